"""A study's table: as raw numbers, and as Markdown and LaTeX for readers."""
