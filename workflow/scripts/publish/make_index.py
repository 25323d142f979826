"""Make the page that leads to every platform's page, and says how near this machine's GPUs are to the recordings."""

from pathlib import Path

from kernelsweep.analysis.row_counts import row_counts
from kernelsweep.json_files import read_device, read_json
from kernelsweep.logs import logged
from kernelsweep.publish.index.beside_recording import Side, beside_recording, times_of
from kernelsweep.publish.index.index_page import IndexPage, PlatformEntry, render_index
from kernelsweep.publish.page.embed import link
from kernelsweep.results import each_row

FILES = ("summary.md", "best.md", "claims.md", "measurements.csv", "environment.json")

with logged(snakemake.log[0]):
    page, params = Path(snakemake.output[0]), snakemake.params
    entries, own = [], []
    for platform, measurements in params.platforms.items():
        folder = Path(measurements).parent
        device = read_device(folder / "device.json")
        # A recording may hold studies that this run leaves out.
        studies = params.studies.get(platform)
        counted = row_counts(row for row in each_row(measurements) if studies is None or row["study"] in studies)
        # Those of this run may follow the index.
        files = [file for name in FILES if (file := folder / name).is_file() or platform in params.studies]
        entries.append(
            PlatformEntry(
                provenance=device["provenance"],
                counted=counted,
                page=link(folder / "report.html", page.parent, platform),
                files=[link(file, page.parent, file.name) for file in files],
                studies=[link(path, page.parent, path.parent.name) for path in map(Path, params.alone[platform])],
            )
        )
        if platform in params.own:
            own.append(Side(platform, device["name"], times_of(each_row(measurements))))
    recorded = []
    for name, folder in params.recordings.items():
        device = read_json(Path(folder) / "environment.json")["device"]
        recorded.append(
            Side(f"the recording {name}", device["name"], times_of(each_row(Path(folder) / "measurements.csv.gz")))
        )
    sentences = [beside_recording(one, other) for one in own for other in recorded]
    if not sentences:
        sentences = ["No GPU was measured here." if not own else "There is no recording to compare your GPU with."]
    headlines = {Path(path): Path(path).read_text(encoding="utf-8").splitlines()[0] for path in params.comparisons}
    index = IndexPage(
        platforms=entries,
        devices=sentences,
        further=[link(Path(path), page.parent, Path(path).name) for path in snakemake.input.devices],
        comparisons=[(text.lstrip("# "), link(path, page.parent)) for path, text in headlines.items()],
    )
    page.write_text(render_index(index), encoding="utf-8")
