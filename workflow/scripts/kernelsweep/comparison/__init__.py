"""Before and after: what a kernel's edit, or anything else between two sweeps, did to every point.

sides     the two sweeps: rows of measurements.csv, or a journal's earlier records of the same points
scatter   how far a run's visits to a point lie apart, without which a few samples promise too much
verdicts  point by point, and over a kernel's points: faster, slower, same or undecided
text      all of it for a reader
"""
