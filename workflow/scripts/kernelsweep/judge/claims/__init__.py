"""Check claims, which are statements of the literature or of a user, against the measurements.

claim      a statement, read from resources/published/claims.csv or a study's YAML
relations  the relations between a quantity and a value, and the verdict that follows from an interval
judge      look up each claim's quantity in measurements and metrics, and decide
report     the judged claims as rows and as a page

docs/claims.md describes how each verdict is reached.
"""
