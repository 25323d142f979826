"""A platform's results as one HTML page that needs no other file.

facts     what ran
embed     figures as pictures inside the page
markdown  the other results' Markdown to HTML
chapters  the results that follow the studies
render    the page, from template.html, style.css and script.js
"""
