"""Measure: find the points that the journal lacks, run them in worker processes, and make result rows."""
