"""The errors that a user is meant to read: what was wrong, where, and what would be right."""

import errno
from pathlib import Path

# What a write answers on a full disk, at a quota, or at a limit of the shell's (ulimit -f).
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class UserError(Exception):
    """A mistake the user can mend. Its text is the whole message; no traceback is shown with it."""


class BuildError(UserError):
    """A compiler is missing, or refused a kernel; the text carries the compiler's own message."""


class LaunchError(Exception):
    """A kernel could not be launched or did not come to its end; the text says why."""


def unwritable(path: str | Path, error: OSError) -> UserError:
    """What to tell where a file of the results can't be written."""
    if error.errno in FULL:
        advice = "Free some space there"
    elif isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
        advice = "Move away what is there in its place"
    else:
        advice = "Make it and its folder writable for you"
    return UserError(
        f"{path} can't be written: {error.strerror}. {advice}, and type the same command again: every point that was "
        "finished is kept."
    )
