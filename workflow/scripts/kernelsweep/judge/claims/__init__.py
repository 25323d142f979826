"""Claims: statements of the literature, or of a user, held against what was measured here.

claim      a statement, read from resources/published/claims.csv or a study's YAML
relations  what a statement may say of a quantity, and what follows from an interval
judge      each claim's quantity, looked up among measurements and metrics, and the verdict
report     the judged claims as rows and as a page

docs/claims.md says how each verdict comes about.
"""
