"""Write the C++ header that reduces an array with the best configuration of its size."""

import time
from pathlib import Path

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.proofs import failed_proofs, read_proofs
from kernelsweep.json_files import read_device, read_json
from kernelsweep.logs import logged
from kernelsweep.measure.environment import git_revision
from kernelsweep.project.project import load_study
from kernelsweep.share.reduce_header.export import reduce_header

with logged(snakemake.log[0]):
    root, inputs = Path.cwd(), snakemake.input
    studies = {name: load_study(name, root) for name in snakemake.params.studies}
    kernels = {(name, kernel): source for name, study in studies.items() for kernel, source in study.kernels.items()}
    history = []
    for path in inputs.environment:
        environment = read_json(path)
        history.append(f"Measured {environment['measured'][:10]} at revision {environment['git_revision']}.")
    history.append(f"Exported {time.strftime('%F', time.gmtime())} at revision {git_revision() or 'unknown'}.")
    licence = Path(inputs.licence).read_text(encoding="utf-8")
    copyright_line = next(line for line in licence.splitlines() if line.startswith("Copyright"))
    history.append(f"{licence.splitlines()[0]}. {copyright_line}.")
    header = reduce_header(
        load_measurements(
            [Path(path) for path in inputs.measurements], unproven=failed_proofs(read_proofs(inputs.proofs))
        ),
        kernels,
        root / "kernels",
        read_device(inputs.device),
        history,
    )
    Path(snakemake.output[0]).write_text(header, encoding="utf-8")
    print(f"{len(header.splitlines())} lines")
