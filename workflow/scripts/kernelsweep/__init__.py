"""The library behind the workflow's scripts, in the order in which data flows through it.

Configuration   configuration (files, checks, defaults), schema (one readable error), axes (values, expressions)
Kernels         kernel_source, kernel_header (what a .cu file says of itself), sweep (points and variants of a kernel)
Build           translation_unit, compilers/ (nvcc for a GPU, g++ for the emulator), build
Measure         measure (what the journal lacks, and the rows), workers and worker_process (the job's side of its
                workers), worker and runner (theirs: point after point), outcome (what became of one),
                plans (launches), problems/ (input and judge of results), platforms/ (where points run),
                sampling, statistics, energy, journal, lease, chunks (of a long sweep, a job each); baselines (the same
                sums on the host's processor), rivals/ (the same by libraries on the GPU), limits (the driver's copy and
                fill)
Compare         comparison/ (two sweeps, or before and after an edit)
Count           counting/ (what a kernel does to memory, and mistakes in it, on the emulator)
Watch           profiling/ (hardware counters under Nsight Compute), sanitizer/ (under compute-sanitizer), and watched,
                what is the same for both
Judge           claims/ (what the literature says, held against what was measured), best/ (the fastest configurations,
                and a C++ header made of them)
Publish         measurements and metrics, intervals (and their ratios), reached (of the memory's limits), published (the
                literature's figures), tables/, figures/, tally and summary, page/ (all of it in one HTML file),
                environment, recording (and its check), devices (beside each other), archive (results to be drawn again)
Clusters        time_limits (how long a job may take)
Everywhere      results (file formats), errors, logs, locks, fingerprint (what a change of code makes run again)

No module knows Snakemake, and no stage reaches back to an earlier one's files.
"""
