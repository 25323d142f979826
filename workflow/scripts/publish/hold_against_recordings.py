"""Say how near a GPU's times are to the recordings'."""

from pathlib import Path

from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.publish.index.beside_recording import beside_recording, times_of
from kernelsweep.results import each_row

with logged(snakemake.log[0]):
    device, own = read_device(snakemake.input.device)["name"], times_of(each_row(snakemake.input.measurements))
    sentences = [
        beside_recording(device, own, recording, times_of(each_row(Path(folder) / "measurements.csv.gz")))
        for recording, folder in snakemake.params.recordings.items()
    ]
    Path(snakemake.output[0]).write_text("\n".join(sentences) + "\n", encoding="utf-8")
