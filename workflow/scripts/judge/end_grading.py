"""End a grading: show the verdicts, and fail unless every candidate is right and checked."""

import textwrap
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.json_files import read_json
from kernelsweep.judge.grade import BEST_FIRST, WORDS
from kernelsweep.logs import logged

_SHOWN = 20

with logged(snakemake, is_answer=True):
    summary, page = read_json(snakemake.input.verdict), Path(snakemake.input.page).resolve().as_uri()
    for line in summary["verdict"]:
        print(textwrap.fill(line, 80, subsequent_indent="  ", break_long_words=False))
    if len(summary["candidates"]) > 1:
        for one in summary["candidates"][:_SHOWN]:
            told = ", ".join(one["findings"]) or one["implausible"] or one["not_proven"]
            print(f"  {WORDS[one['verdict']]:<12}{one['candidate']}  {' '.join(told.split())}"[:80])
    print(f"\n  Page  {page}")
    if summary["status"]:
        counts = [
            (sum(one["verdict"] == word for one in summary["candidates"]), WORDS[word]) for word in BEST_FIRST[1:]
        ]
        raise UserError(
            f"{', '.join(f'{count} {word}' for count, word in counts if count)}. See {snakemake.input.verdict}."
        )
