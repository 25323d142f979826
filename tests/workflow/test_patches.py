"""What is changed of Snakemake's inside takes effect with the release that is installed."""

from __future__ import annotations

from pathlib import Path

from workflow_runs import shrink, snakemake

SCHEDULER = "snakemake.scheduling.job_scheduler:JobScheduler"
POINTS = "results/emulator/points/warp_shuffle/shuffle.csv"


def test_each_change_takes_effect_with_the_installed_snakemake(project: Path) -> None:
    # Pins: a release of another form, with which every run is slow and Ctrl-C ends in a stack, in silence.
    shrink(project)
    snakefile = project / "Snakefile"
    # Not this one, which would use what the class lacks.
    refused = 'patch("snakemake.script:PythonScript", "evaluate", ["self", "edit"], lambda one: one, uses=["lacking"])'
    snakefile.write_text(f'{snakefile.read_text()}\n{refused}\nprint("changed:", *PATCHED)\n')
    run = snakemake(project, POINTS, "--dry-run")
    assert run.returncode == 0, run.stdout
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("changed: ")]
    assert line.split()[1:] == [
        f"{SCHEDULER}._schedule_reevalutation",
        "snakemake.persistence:PersistenceBase._serialize_param",
        "snakemake.iocontainers:Snakemake._safely_store_params",
        "snakemake.io:_IOFile.checksum",
        "snakemake.script:PythonScript.execute_script",
        f"{SCHEDULER}.schedule",
        f"{SCHEDULER}.exit_gracefully",
    ]


def test_another_major_release_of_snakemake_is_refused_with_a_sentence(project: Path) -> None:
    snakefile = project / "Snakefile"
    snakefile.write_text(f'import snakemake\nsnakemake.__version__ = "10.0.0"\n{snakefile.read_text()}')
    run = snakemake(project, "--dry-run")
    assert run.returncode == 1
    assert run.stdout.splitlines()[-1].startswith("kernelsweep needs Snakemake 9, and this is Snakemake 10.0.0")
