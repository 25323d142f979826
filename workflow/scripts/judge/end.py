"""End a run: show its answer, and fail if something was wrong."""

from pathlib import Path

from kernelsweep.base.answer import Answer
from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged
from kernelsweep.errors import UserError

with logged(snakemake, is_answer=True):
    answer = Answer(**read_json(Path(snakemake.input.answer)))
    print(answer.text)
    if answer.page:
        print(f"\n  Page  {Path(answer.page).resolve().as_uri()}")
    if answer.next:
        print(f"\n  Next  {answer.next}")
    if answer.errors:
        raise UserError("\n".join(answer.errors))
