"""The library behind the workflow's scripts: one folder a stage, in the order in which data flows through them.

(top level)  errors, results (file formats), reasons, plans, statistics: used by every stage; bounds and tensors for
             problem files
base         what jobs share: processes, sandboxes, locks, logs, templates, hashes of code and of a job's sources
study        studies, kernels, axes and points; problem/: what is computed, its reference result and error bound
compile      kernel sources to binaries
device       one point on one device: the GPU or the emulator (a package of its own, cuda_emulator), memory, check, time
sweep        the loop over points: strategies, the bench, the journal; libraries and the driver as baselines
observe      count, profile and check kernels without timing them
judge        results read back from files (data/); claims, best configurations, comparisons of sweeps
publish      tables, figures, summary and report page; recordings and C++ headers (share/)
capture      from a running program to a study, and back
project      files, inputs and resources of the rules

A stage imports only stages above it. No module knows Snakemake.
"""

# help(kernelsweep) is for who calls it, and says what it offers.
from kernelsweep.offered import NAMES as __all__  # noqa: F401
from kernelsweep.offered import __dir__, __doc__, __getattr__  # noqa: F401
