"""Observe kernels without timing them: count on the emulator, profile, check for memory errors and races."""
