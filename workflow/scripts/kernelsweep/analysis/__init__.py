"""Results read back: measurements and metrics, memory limits, published figures, counts of points by status."""
