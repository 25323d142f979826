"""What a kernel does to memory, counted while the emulator runs it: requests, sectors, conflicts, and mistakes.

run       points of a kernel, counted or traced
platform  the emulator as a platform that counts; library, what the compiled library reports
lines     from the code's addresses to the source's lines, and from places in shared memory to arrays
metrics   from counts to metrics under the names used for Nsight Compute's
findings  races, uninitialised reads and accesses out of bounds, in words

docs/counting.md says how a warp's requests are made of its lanes' accesses, and what is ordered before what.
"""
