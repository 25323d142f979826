"""Why a point, or a check of a kernel, came out as it did: what programs read. Its message is what people read."""

from enum import StrEnum


class Reason(StrEnum):
    """The column `reason`, where a status or a finding says too little."""

    NONE = ""
    # skipped
    STUDY_MISTAKE = "study_mistake"  # in what the study says of its kernels, found as a point ran
    NOT_JUDGED = "not_judged"  # kernelsweep failed in the job of a kernel that nobody trusts, so that the others go on
    # build_failed
    NOT_SUPPLIED = "not_supplied"  # the kernel uses something that the emulator lacks
    HIDDEN_WORDS = "hidden_words"  # a macro of a kernel that nobody trusts puts words together that it may not have
    # launch_failed, on the emulator; NOT_SUPPLIED, too
    BARRIER = "barrier"  # threads wait for threads that can't come
    MISALIGNED = "misaligned"
    OUT_OF_BOUNDS = "out_of_bounds"  # also of wrong_result, where that is all that is wrong
    ILLEGAL_ACCESS = "illegal_access"
    # not_checked, in proofs.csv
    TOOL_FAILED = "tool_failed"  # compute-sanitizer, or a point under it
