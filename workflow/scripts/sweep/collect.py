"""Join the kernels' points and builds into measurements.csv and builds.csv; a failed proof flags a kernel's points."""

from collections.abc import Iterator

from kernelsweep.base.logs import logged
from kernelsweep.judge.data.measurements import covering
from kernelsweep.judge.data.proofs import failed_proofs, read_proofs
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, PROOF_FAILED, Table, each_table, write_tables


def flagged() -> Iterator[Table]:
    """The kernels' points, with intervals for readers, and the flag of those whose proof failed."""
    failed = failed_proofs(read_proofs(snakemake.input.proofs))
    for table in covering(snakemake.input.points):
        rows = zip(table["study"], table["kernel"], table["flags"], strict=True)
        flags = [f"{one} {PROOF_FAILED}".strip() if (study, kernel) in failed else one for study, kernel, one in rows]
        yield {**table, "flags": flags}


with logged(snakemake):
    write_tables(snakemake.output.measurements, MEASUREMENT_COLUMNS, flagged())
    builds = (table for path in snakemake.input.builds for table in each_table(path))
    write_tables(snakemake.output.builds, BUILD_COLUMNS, builds)
