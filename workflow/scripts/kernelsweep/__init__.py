"""The library behind the workflow's scripts: one folder a stage, in the order in which data flows through them.

(top level)  errors, logs, locks, code_hash, results (file formats), statistics, intervals: used by every stage;
             bounds, which problem files import, and tensors
problems     what a kernel computes: its axes, its input, its reference result, its error bound
sweep        studies, axes and points; kernels and how they are launched
build        kernel sources to binaries
platforms    where points run: a GPU, or the emulator (a package of its own, cuda_emulator)
measure      run the points that the journal lacks, and make result rows
baselines    the same work by the host, by libraries and by the driver
analysis     results read back from files
drawing      what all figures share
observe      count, profile and check kernels without timing them
judge        claims, best configurations, comparisons of sweeps
publish      tables, figures, summary and report page
share        recordings, C++ headers
project      files, inputs and resources of the rules

A stage imports only stages above it. No module knows Snakemake.
"""

from kernelsweep.offered import NAMES as __all__  # noqa: F401
from kernelsweep.offered import __dir__, __getattr__  # noqa: F401
