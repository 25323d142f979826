"""The compilers: nvcc for the GPU, g++ for the emulator."""
