"""Share results: recordings, archives, devices side by side, and C++ headers of the best configurations."""
