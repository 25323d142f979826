"""The best configuration of each kernel at each array size, and those that can't be told apart from it.

find    the fastest block size, unroll factor and grid, and its ties
report  best.json for programs and best.md for readers

workflow/schemas/best.schema.json describes best.json.
"""
