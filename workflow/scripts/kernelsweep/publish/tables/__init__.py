"""A study's table, measured and published side by side: as raw numbers, and as Markdown and LaTeX for readers."""
