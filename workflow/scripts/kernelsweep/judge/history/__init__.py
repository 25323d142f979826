"""Each kernel's best time over its versions, from the journal.

versions  the measured versions of a kernel's source, with the best time of each, judged against the one before
report    the versions as Markdown and CSV
figure    the times as a figure
"""
