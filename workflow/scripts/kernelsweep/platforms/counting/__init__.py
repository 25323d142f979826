"""The emulator with every access to memory seen: counts, and mistakes in the use of memory."""
