"""Count a kernel's memory accesses on the emulator: requests, sectors, bank conflicts."""
