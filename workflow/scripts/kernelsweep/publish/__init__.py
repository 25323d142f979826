"""Publish results: tables, figures, the summary and the report page."""
