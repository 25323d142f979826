"""The best configuration of each kernel at each array size, and those that can't be told apart from it."""
