"""One point on a platform: its memory, its launches, the check of its result, and its timing."""
