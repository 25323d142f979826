"""Why each step of a story is faster: what it changes, which counters move, and the code."""
