"""The errors that a user is meant to read: what was wrong, where, and what would be right."""


class UserError(Exception):
    """A mistake the user can mend. Its text is the whole message; no traceback is shown with it."""


class BuildError(UserError):
    """A compiler is missing, or refused a kernel; the text carries the compiler's own message."""


class LaunchError(Exception):
    """A kernel could not be launched or did not come to its end; the text says why."""
