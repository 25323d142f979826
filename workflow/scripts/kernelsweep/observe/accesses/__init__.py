"""Pictures of who accesses what: which elements the warps of a thread block load and store, and which lanes take part.

selection  the steps of a study's story that have a picture, each with a small point
trace      the accesses of a block's first warps at such a point, on the emulator
picture    the picture of these accesses, as SVG

docs/counting.md explains how to read one.
"""
