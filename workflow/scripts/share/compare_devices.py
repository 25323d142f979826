"""Compare recordings and this machine's GPUs: tables, a figure a study, and the verdicts on claims."""

from pathlib import Path

import pandas

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.drawing.figure_formats import file_names, remove_others
from kernelsweep.drawing.layout import chosen_widths, save
from kernelsweep.json_files import read_device, read_json
from kernelsweep.logs import logged
from kernelsweep.platforms.names import is_recording
from kernelsweep.publish.tables.formats import as_csv
from kernelsweep.share import devices_figure
from kernelsweep.share.devices import DataSet, claim_matrix, device_rows, devices_page
from kernelsweep.share.recording import check_recording, recorded_device

with logged(snakemake.log[0]):
    params = snakemake.params
    sets = []
    for platform, path in params.measurements.items():
        folder = Path(path).parent
        if is_recording(platform):
            check_recording(folder)
            device = recorded_device(read_json(folder / "environment.json"), folder.name)
        else:
            device = read_device(folder / "device.json")
        judged = params.claims.get(platform)
        claims = pandas.read_csv(judged, dtype=str, keep_default_na=False) if judged else None
        measurements = load_measurements([Path(path)], references=params.studies)
        sets.append(DataSet(platform, device, measurements, claims))

    rows = pandas.concat([device_rows(name, settings, sets) for name, settings in params.studies.items()])
    Path(snakemake.output.page).write_text(devices_page(params.studies, rows, sets), encoding="utf-8")
    Path(snakemake.output.rows).write_text(as_csv(rows), encoding="utf-8")
    Path(snakemake.output.claims).write_text(as_csv(claim_matrix(sets)), encoding="utf-8")
    folder = Path(snakemake.output.figures[0]).parent
    remove_others(snakemake.output.figures)
    widths = chosen_widths(**params.look)
    for name, settings in params.studies.items():
        for width_name, width in widths.items():
            figure = devices_figure.draw(name, settings, sets, width)
            for file_name in file_names(name, width_name, params.formats):
                save(figure, folder / file_name)
