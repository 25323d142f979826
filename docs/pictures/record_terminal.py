"""Run commands in a terminal of 80 columns, and write what it showed as an SVG whose lines come when they came.

CONTRIBUTING.md has the command.
"""

import os
import pty
import re
import sys
import time
from html import escape
from pathlib import Path

from kernelsweep.base.logs import COLUMNS

# In pixels; a letter's width is that of the font's em of 13.
LINE, LETTER, EDGE = 18, 7.83, 14
# A viewer waits at most so many seconds for a line.
LONGEST_WAIT = 1.5
_ESCAPES = re.compile(r"\x1b\][^\x1b]*\x1b\\|\x1b\[[0-9;]*[A-Za-z]")
_RED, _GREEN, _INK, _BLUE = "#ff8a98", "#6fce8a", "#e3e7eb", "#7cc0ff"
# Snakemake's line on its profile.
_LEFT_OUT = "Using workflow specific profile"


def lines_of(command: str) -> list[tuple[float, str, str]]:
    """What a command showed: the seconds after its start, the text and the colour of each line."""
    seen: list[tuple[float, bytes]] = []

    def read(terminal: int) -> bytes:
        data = os.read(terminal, 65536)
        seen.append((time.monotonic(), data))
        return data

    started = time.monotonic()
    os.environ |= {"COLUMNS": str(COLUMNS), "TERM": "xterm"}
    pty.spawn(["bash", "-c", command], read)
    lines, rest = [(0.0, f"$ {command}", _BLUE)], ""
    for moment, data in seen:
        *whole, rest = (rest + data.decode(errors="replace").replace("\r\n", "\n")).split("\n")
        for line in whole:
            shown = line.rpartition("\r")[2] if "\r" in line else line
            text = _ESCAPES.sub("", shown)
            if text.startswith(_LEFT_OUT):
                continue
            parts = [text[start : start + COLUMNS] for start in range(0, max(1, len(text)), COLUMNS)]
            lines += [(moment - started, part, _colour(shown, text)) for part in parts]
    return lines


def _colour(shown: str, text: str) -> str:
    """The colour of a line: red as the terminal had it, or that of a difference's sign."""
    if "\x1b[31m" in shown or text.startswith("-"):
        return _RED
    return _GREEN if text.startswith("+") else _INK


def picture(commands: list[str]) -> str:
    """The SVG: all lines, dim until they come; without animation, its last state."""
    lines, begin = [], 0.0
    for command in commands:
        moment = 0.0
        for seconds, text, colour in lines_of(command):
            begin += min(max(0.0, seconds - moment), LONGEST_WAIT)
            moment = seconds
            lines.append((begin, text, colour))
        begin += LONGEST_WAIT
    width, height = COLUMNS * LETTER + 2 * EDGE, len(lines) * LINE + 2 * EDGE
    texts = [
        f"<text x='{EDGE}' y='{EDGE + LINE * (number + 0.75):g}' fill='{colour}' xml:space='preserve' "
        f"style='animation-delay:{seconds:.2f}s'>{escape(text)}</text>"
        for number, (seconds, text, colour) in enumerate(lines)
        if text
    ]
    style = (
        "text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;animation:come .01s both}"
        "@keyframes come{from{opacity:.4}}@media(prefers-reduced-motion:reduce){text{animation:none}}"
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}'>"
        f"<title>{escape('; '.join(commands))}</title><style>{style}</style>"
        f"<rect width='100%' height='100%' rx='8' fill='#14181c'/>{''.join(texts)}</svg>\n"
    )


if __name__ == "__main__":
    file, *given = sys.argv[1:]
    Path(file).write_text(picture(given), encoding="utf-8")
