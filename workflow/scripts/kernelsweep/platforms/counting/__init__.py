"""The emulator with every access to memory seen: counts, and mistakes in the use of memory.

counting_platform  the platform, with a build that calls a hook before each access
library            the counts and mistakes that such a build reports
lines              addresses in the code to source lines, places in shared memory to arrays
mistakes           races, uninitialised reads and accesses out of bounds, in words

docs/counting.md says which accesses are ordered.
"""
