"""Pictures of who accesses what: which elements the warps of a thread block load and store."""
