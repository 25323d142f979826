"""Check claims, which are statements of the literature or of a user, against the measurements."""
