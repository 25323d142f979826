"""A study's table, measured and published side by side: as raw numbers, and as Markdown and LaTeX for readers.

of_study        the table of any study
ladder_table    the table of a study with a ladder, as a data frame
ladder_text     the same in words and formats for readers
exchanges       both for a study of exchanges
configurations  both for a study with a problem of its own
short           the table for a column of a paper
counters        hardware counters added to a table
point_notes     texts about a kernel's points, for both kinds of table
formats         CSV, Markdown and LaTeX
"""
