"""The page results/index.html, which leads to all others.

beside_recording  how near a GPU's times are to a recording's
index_page        the page, from index.html and the style of platforms' pages
renew             makes the page again at the end of every run, and marks older pages
statuses          how each study came out when it was last counted
"""
