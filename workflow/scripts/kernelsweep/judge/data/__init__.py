"""Results read back: measurements and metrics, memory limits, published outputs, counts of points by status."""
