"""A platform's results as one HTML page that needs nothing beside it.

facts says what ran, figures embeds pictures, markdown turns the other results' Markdown into HTML, chapters says which
of them follow the studies, and render puts all into template.html, with style.css and script.js inside it.
"""
