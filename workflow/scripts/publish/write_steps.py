"""Write the text on a study's steps, of what its data say and of its kernels' sources."""

from pathlib import Path

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged
from kernelsweep.publish.steps.steps_page import steps_text

with logged(snakemake):
    sources = {Path(file).stem: Path(file).read_text(encoding="utf-8") for file in snakemake.input.kernels}
    drawn = [file for folder in snakemake.input.accesses for file in Path(folder).glob("*.svg")]
    pictures = "".join(file.read_text(encoding="utf-8") for file in drawn)
    Path(snakemake.output[0]).write_text(steps_text(read_json(snakemake.input.story), sources, pictures), "utf-8")
