"""What a kernel does to memory, counted while the emulator runs it: requests, sectors, conflicts, and mistakes.

run       points of a kernel, counted or traced
choice    which points are counted, checked and drawn
results   the files' rows
library   what the compiled library reports (platforms/counting.py runs it)
lines     from the code's addresses to the source's lines, and from places in shared memory to arrays
metrics   from counts to metrics under the names used for Nsight Compute's
findings  races, uninitialised reads and accesses out of bounds, in words

docs/counting.md says how a warp's requests are made of its lanes' accesses, and what is ordered before what.
"""

# The source of its metrics, in metrics.csv.
COUNTED = "counted"

# What a user types to have kernels counted.
COUNT = "uv run snakemake --cores 2 count"
