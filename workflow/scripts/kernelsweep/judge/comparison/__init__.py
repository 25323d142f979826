"""Compare two sweeps, such as before and after an edit of a kernel, point by point.

which_files  the files that the configuration names, checked
sides        the two sweeps: rows of measurements.csv, or a journal's earlier records of the same points
scatter      how far a run's visits to a point lie apart
verdicts     for each point and each kernel: faster, slower, same or undecided
text         the result for a reader
ratios       the result as a figure
"""
