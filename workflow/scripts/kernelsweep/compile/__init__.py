"""Build: kernel sources to binaries, by nvcc for a GPU and by g++ for the emulator."""
