"""Tell what each commit since a revision did to the kernels, or find the first that made them slower or wrong."""

import shutil
from pathlib import Path

from kernelsweep.judge.commits import Commit, Revisions, commits_since, first_bad
from kernelsweep.logs import logged

with logged(snakemake.log[0], is_answer=True) as terminal:
    params, output = snakemake.params, Path(snakemake.output[0])
    commits = commits_since(params.good, params.paths)
    revisions = Revisions(output.with_suffix(""), params.settings, snakemake.threads)
    terminal.write(f"{len(commits)} commits since {params.good}; measuring that one first\n")
    revisions.measure(params.good)
    lines: dict[Commit, str] = {}

    def is_bad(commit: Commit) -> bool:
        """Try a commit, and tell what came out."""
        found, verdict = revisions.compare(commit.revision)
        lines[commit] = f"{'bad ' if found else 'good'} {commit.line}: {verdict}"
        terminal.write(f"{lines[commit]}\n")
        return found

    if snakemake.wildcards.way == "history":
        bad = [is_bad(commit) for commit in commits]
        answer, told = f"Slower or wrong than {params.good}: {sum(bad)} of {len(commits)} commits", commits
    elif found := first_bad(commits, is_bad):
        answer, told = "The first commit that is slower or wrong", [found]
    else:
        answer, told = f"Nothing is slower or wrong since {params.good}", commits[-1:]
    answer = "\n".join([f"{answer}:", *(lines[commit] for commit in told)])
    output.write_text(answer + "\n", encoding="utf-8")
    shutil.rmtree(output.with_suffix(""))
    print(answer)
