"""The best configuration of each kernel at each array size, and those that can't be told apart from it.

find        the fastest block size, unroll factor and grid of each kernel, and the fastest of all kernels; ties
best_words  configurations and the fastest of all in words
best_file   best.json, for programs and for the page
report      best.md, for readers

workflow/schemas/best.schema.json describes best.json.
"""
