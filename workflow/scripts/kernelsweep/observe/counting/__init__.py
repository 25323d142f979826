"""Count a kernel's memory accesses on the emulator: requests, sectors, bank conflicts, and mistakes.

selection          which points are counted, checked and drawn
run                count or trace a kernel's points
counting_platform  the emulator with a counting build of a kernel
library            the counts that the build reports
lines              addresses in the code to source lines, places in shared memory to arrays
quantities         counts to metrics under Nsight Compute's names
mistakes           races, uninitialised reads and accesses out of bounds, in words
rows               the result files' rows
access_pattern     a figure of a warp's accesses
against_ncu        a table of counts beside Nsight Compute's counters

docs/counting.md says how a warp's requests follow from its lanes' accesses, and which accesses are ordered.
"""
