"""Why each step of a story is faster: what it changes, which counters move, what the counters advise, and the code."""
