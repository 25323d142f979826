"""Where points run: the interface, the GPU, the emulator, and the choice between them."""
