"""Judge results: claims of the literature, best configurations, and comparisons of two sweeps."""
