"""Share results: recordings, archives, devices side by side, and a C++ header of the best configurations."""
