"""A study's table, measured and published side by side: as raw numbers, and as Markdown and LaTeX for readers.

of_study    the table of any study, raw and as a reader sees it
steps       the table of a study with steps, as a data frame; steps_text: as a reader sees it
exchanges   both for a study of exchanges
counters    hardware counters added to a table
points      texts about a kernel's points, for both kinds of table
layout      the formats
"""
