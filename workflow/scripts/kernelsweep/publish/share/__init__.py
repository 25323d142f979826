"""Share results: recordings, and C++ headers of the best configurations."""
