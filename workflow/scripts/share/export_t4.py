"""Write a study's measurements in the T4 format: a file a kernel, problem size and cache state."""

from pathlib import Path

from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.results import each_row
from kernelsweep.share.t4 import t4_files

with logged(snakemake.log[0]):
    params, study = snakemake.params, snakemake.wildcards.study
    rows = (
        row
        for path in snakemake.input.measurements
        for row in each_row(path)
        if row["study"] == study and row["kernel"] in params.settings["kernels"]
    )
    folder = Path(snakemake.output[0])
    folder.mkdir(parents=True)
    written = t4_files(rows, params.settings["kinds"], read_device(snakemake.input.device))
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(written)} files")
