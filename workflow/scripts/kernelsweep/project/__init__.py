"""The whole project, as the rules see it."""
