"""What the emulator can't do; the texts are whole messages."""


class Refused(Exception):
    """A compiler is missing, or refused a kernel; the text contains the compiler's message.

    cause       what was refused, in a line without advice; the text's first line unless it is given
    is_lacking  whether the kernel uses something that the emulator doesn't supply
    """

    def __init__(self, message: str, cause: str = "", is_lacking: bool = False) -> None:
        super().__init__(message)
        self.cause, self.is_lacking = cause or message.partition("\n")[0], is_lacking


class LaunchFailed(Exception):
    """A kernel could not be launched, or did not complete; the text says why.

    kind  barrier, misaligned, out_of_bounds, illegal_access or not_supplied; empty for anything else
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
