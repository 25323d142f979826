"""The best configuration of each kernel at each array size, and those that can't be told apart from it.

find     the fastest block size, unroll factor and grid, and its ties
report   what was found as best.json for programs and best.md for readers
offered  the kernels that a C++ header can offer
choose   one configuration for each class of array sizes, of all these kernels' together
sources  the kernels' files as one text
export   the header, made of template.cuh

workflow/schemas/best.schema.json describes best.json.
"""
