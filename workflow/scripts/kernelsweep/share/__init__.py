"""Share results: recordings, the T4 format, and C++ headers of the best configurations."""
