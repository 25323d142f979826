"""Say how near a GPU's times are to the recordings'."""

from pathlib import Path

from kernelsweep.json_files import read_device, read_json
from kernelsweep.logs import logged
from kernelsweep.publish.index.beside_recording import Side, beside_recording, times_of
from kernelsweep.results import each_row

with logged(snakemake.log[0]):
    name, measurements = read_device(snakemake.input.device)["name"], snakemake.input.measurements
    own = Side(snakemake.wildcards.platform, name, times_of(each_row(measurements)))
    sentences = []
    for recording, folder in snakemake.params.recordings.items():
        device = read_json(Path(folder) / "environment.json")["device"]
        times = times_of(each_row(Path(folder) / "measurements.csv.gz"))
        sentences.append(beside_recording(own, Side(f"the recording {recording}", device["name"], times)))
    Path(snakemake.output[0]).write_text("\n".join(sentences) + "\n", encoding="utf-8")
