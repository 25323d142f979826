"""The page results/index.html, which leads to all others."""
