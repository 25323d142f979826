"""Errors for users: they say what is wrong, where, and what is right."""

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

from kernelsweep.reasons import Reason

# The error numbers of a full disk, an exhausted quota, and the shell's limit on file sizes (ulimit -f).
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

# The exit status of a process that a failure of a GPU or of its driver has ended.
GPU_FAILED = 4

_LONGEST_MESSAGE = 100_000  # characters, as of a compiler's errors


class UserError(Exception):
    """A mistake that the user can correct. Its text is the whole message, which is shown without a traceback.

    What it quotes of a user's file or of a compiler can't steer the terminal.
    """

    def __init__(self, message: str) -> None:
        super().__init__(readable(message, _LONGEST_MESSAGE))


class StudyError(UserError):
    """A mistake in what a study says of its kernels, such as in its problem's functions, found as its points run."""


class BuildError(UserError):
    """A compiler is missing, or refused a kernel; the text contains the compiler's message.

    cause  what was refused, in a line without advice; the text's first line unless it is given
    """

    def __init__(self, message: str, reason: Reason = Reason.NONE, cause: str = "") -> None:
        super().__init__(message)
        self.reason, self.cause = reason, cause or str(self).partition("\n")[0]


class LaunchError(Exception):
    """A kernel could not be launched, or did not complete; the text says why."""

    def __init__(self, message: str, reason: Reason = Reason.NONE) -> None:
        super().__init__(message)
        self.reason = reason


class ContextLost(Exception):
    """The platform can run nothing more in this process, as after an illegal address on a GPU. The text says why."""


class MisfitError(LaunchError):
    """A launch's arguments don't fit the kernel's parameters, or its constants the variables; whatever the point."""


def readable(text: str, longest: int = 4_000) -> str:
    """A text of the user's code or of a compiler for terminals and tables: cut, and without control characters."""
    shown = "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def in_a_line(error: Exception) -> str:
    """An error's text, after its kind unless it is the user's, in a line."""
    kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
    return readable(f"{kind}{' '.join(str(error).split())}", _LONGEST_MESSAGE)


def shown_value(value: object) -> str:
    """A value of the user's in a message."""
    try:
        return readable(repr(value), 120)
    except Exception:  # Of a class of the user's own, or an integer of 5,000 digits.
        return f"an object of type {type(value).__name__}"


def nearest(word: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """ "; did you mean X?" for the known word that begins so, or is nearest to a misspelt one; "" if none is near.

    similarity  how near it has to be, from 0 to 1; see difflib.get_close_matches
    """
    words = list(known)
    begun = [one for one in words if one.startswith(word) and len(word) > 3]
    matches = begun[:1] or difflib.get_close_matches(word, words, n=1, cutoff=similarity)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def check_known(value: object, known: Iterable[object], subject: str, these: str = "Allowed") -> None:
    """Raise UserError for a value that is none of those known, and say what is allowed.

    subject  begins the sentence, which the value follows: "own.yaml: reference has"
    these    what the known ones are
    """
    allowed = list(dict.fromkeys(known))
    if value not in allowed:
        guess = nearest(str(value), map(str, allowed)) or "."
        raise UserError(f"{subject} {shown_value(value)}{guess} {these}: {', '.join(map(str, allowed)) or 'none'}.")


def is_of_gpu(error: BaseException) -> bool:
    """Whether a GPU or its driver failed, and not the code that asked it."""
    return isinstance(error, ContextLost) or type(error).__module__.partition(".")[0] in ("pycuda", "pynvml")


def gpu_failed(what: object) -> UserError:
    """The error of a GPU that fell off the bus, or of a driver that was restarted or replaced."""
    return UserError(
        f"The GPU or its driver failed: {what}. Every finished point is kept: once nvidia-smi lists the GPU again, "
        "which may take a restart, type the same command; or go on without it: --config platform=emulator."
    )


def unwritable(path: str | Path, error: OSError) -> UserError:
    """The error of a result file that can't be written."""
    return UserError(
        f"{path} can't be written: {error.strerror}. Mend that, and repeat the command: every finished point is kept."
    )
