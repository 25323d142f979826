"""Share results: recordings, archives, and C++ headers of the best configurations."""
