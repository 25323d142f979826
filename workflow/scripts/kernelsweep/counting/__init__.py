"""What a kernel does to memory, counted while the emulator runs it: accesses, requests, conflicts, and mistakes.

library   a library compiled with the emulator's counting, and what it reports
platform  the emulator as a platform that counts
lines     from the code's addresses to the source's lines, and from memory to variables' names
metrics   from counts to the metrics of Nsight Compute's names
findings  races, uninitialised reads and accesses out of bounds, in words
"""
