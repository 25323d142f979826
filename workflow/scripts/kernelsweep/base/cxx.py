"""C++ as text: its comments, its words, and lists in brackets. compile/device_code.py knows its definitions."""

from __future__ import annotations

import re
from functools import cache

# The words that may hold the marks of a comment: numbers with digit separators, strings and characters. What does not
# end goes to the end of its line, or of the text, which would else be read for each beginning.
LITERALS = (
    r"\b\d(?:'?\w|\.)*+"
    r'|\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)'
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'(?:\\.|[^'\\\n])*+'?"
)
_LEADING_COMMENTS = re.compile(r"(?:\s|//(?:\\.|[^\\\n])*|/\*.*?\*/)*", re.DOTALL)
_COMMENT_OR_WORD = re.compile(
    r"(?P<comment>(?<![ \t])[ \t]*+//(?:\\.|[^\\\n])*|//(?:\\.|[^\\\n])*|/\*.*?(?:\*/|\Z))|" + LITERALS, re.DOTALL
)


@cache
def cxx_code(source: str, keep_leading: bool = True, keep_lines: bool = True) -> str:
    """A file's text in C++ with each comment replaced by its line ends, or by a blank.

    keep_leading  whether the comments before the code stay
    keep_lines    whether a comment leaves its line ends; without, a directive goes on after a comment, as for compilers
    """
    leading = _LEADING_COMMENTS.match(source) if keep_leading else None
    start = leading.end() if leading else 0

    def blank(match: re.Match[str]) -> str:
        comment = match["comment"]
        if comment is None:
            return match[0]
        return "\n" * (comment.count("\n") if keep_lines else 0) or ("" if comment.lstrip().startswith("//") else " ")

    return source[:start] + _COMMENT_OR_WORD.sub(blank, source[start:])


def split_list(text: str, brackets: str = "()[]{}") -> list[str]:
    """The parts of a list between commas outside of brackets, each a pair of characters; none of a blank text."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in brackets[::2]) - (character in brackets[1::2])
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts] if text.strip() else []
