"""Find the commit since a good revision that made kernels slower or wrong."""

import shutil
from pathlib import Path

from kernelsweep.judge.bisect import Commit, Revisions, commits_since, first_bad
from kernelsweep.logs import logged

with logged(snakemake.log[0], is_answer=True) as terminal:
    params, output = snakemake.params, Path(snakemake.output[0])
    commits = commits_since(params.good, params.paths)
    revisions = Revisions(output.parent / "revisions", params.settings, snakemake.threads)
    terminal.write(f"{len(commits)} commits since {params.good}; measuring that one first\n")
    revisions.measure(params.good)
    verdicts: dict[Commit, str] = {}

    def is_bad(commit: Commit) -> bool:
        """Try a commit, and tell what came out."""
        found, verdicts[commit] = revisions.compare(commit.revision)
        terminal.write(f"{'bad ' if found else 'good'} {commit.line}: {verdicts[commit]}\n")
        return found

    found = first_bad(commits, is_bad)
    if found:
        answer = f"The first commit that is slower or wrong: {found.line}\n{verdicts[found]}"
    else:
        answer = f"Nothing is slower or wrong since {params.good}: {verdicts[commits[-1]]}"
    output.write_text(f"{answer}\n", encoding="utf-8")
    shutil.rmtree(output.parent / "revisions")
    print(answer)
