"""Count a kernel's memory accesses on the emulator: requests, sectors, bank conflicts.

selection    which points are counted
run          count or trace a kernel's points
quantities   counts to metrics under Nsight Compute's names
rows         the result files' rows
against_ncu  a table of counts beside Nsight Compute's counters

docs/counting.md says how a warp's requests follow from its lanes' accesses.
"""
