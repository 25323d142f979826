"""A platform's results as one HTML page that needs no other file.

facts     what ran
embed     figures as pictures inside the page
markdown  the other results' Markdown to HTML
sections  the parts of the page: studies, and chapters that follow them
chapters  the results that are such chapters
explorer  the timed points, for the explorer in explorer.js
scripts   the data for the scripts, and the policy that lets only the page's scripts run
glossary  the meanings of the words at the heads of tables
render    the page, from template.html, style.css, script.js and explorer.js

d3.min.js, which draws the explorer, is version 7.9.2 of the npm package d3, as published, under the ISC licence in
d3.LICENSE. To renew both: `npm pack d3@7`.
"""
