"""A platform's results as one HTML page that needs no other file."""
