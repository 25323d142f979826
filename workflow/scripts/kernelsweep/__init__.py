"""The library behind the workflow's scripts, in the order in which data flows through it.

Configuration   configuration (files, checks, defaults), axes (values, overrides, restrictions)
Kernels         kernel_source (what a .cu file says of itself), sweep (variants and points of a kernel)
Build           translation_unit, compilers/ (nvcc for a GPU, g++ for the emulator), build_report
Measure         problems/ (input and reference), plans (launches), platforms/ (where points run),
                sampling, statistics, worker, measure, journal
Publish         results (file formats), published (the literature's figures), tables, figures/, summary, environment

No module knows Snakemake, and no stage reaches back to an earlier one's files.
"""
