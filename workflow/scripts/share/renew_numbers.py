"""Write the marked numbers in documents anew, from a recording, and name the sentences that are no longer right."""

from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.logs import logged
from kernelsweep.share.marked_numbers import rewrite
from kernelsweep.share.recorded_numbers import recorded_numbers

with logged(snakemake.log[0]) as terminal:
    recording = Path(snakemake.input.recording[0]).parent
    functions = recorded_numbers(recording, snakemake.params.studies).functions
    pages = [Path(document) for document in snakemake.input.documents]
    written = [(page, rewrite(page.read_text(encoding="utf-8"), functions, str(page))) for page in pages]
    for page, rewritten in written:
        page.write_text(rewritten.text, encoding="utf-8")
    if untrue := [message for _, rewritten in written for message in rewritten.untrue]:
        raise UserError("\n".join(untrue))
    Path(snakemake.output[0]).write_text("".join(f"{page}\n" for page in pages), encoding="utf-8")
    print(f"{len(pages)} documents", file=terminal)
