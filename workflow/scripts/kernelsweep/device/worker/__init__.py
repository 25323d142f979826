"""The process in which a kernel's points run: its start, the job's side of it, and its own side."""
