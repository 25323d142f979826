"""The search for a kernel's fastest configuration among many, instead of a visit to each."""
