"""Make the page of a comparison, which needs no other file."""

import re
from pathlib import Path

from kernelsweep.json_files import read_json
from kernelsweep.logs import logged
from kernelsweep.publish.html_files import COMPARISON_TEMPLATE
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.page.explorer import before_and_after
from kernelsweep.publish.page.forest import forest
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import explorer_scripts, packed
from kernelsweep.results import each_row

with logged(snakemake.log[0]):
    page, inputs, studies = Path(snakemake.output[0]), snakemake.input, snakemake.params.studies
    summary = read_json(inputs.summary)
    edited = {kernel for kernel, found in summary["kernels"].items() if found["is_edited"]}
    rows = (row for row in each_row(inputs.rows) if f"{row['study']}/{row['kernel']}" in edited)
    points = before_and_after(studies, rows)
    text = Path(inputs.text).read_text(encoding="utf-8")
    # The page has the verdict and the sizes as the forest.
    text = "Before: " + text.partition("\nBefore: ")[2]
    text = re.sub(r"## By size\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL)
    page.write_text(
        html_text(
            COMPARISON_TEMPLATE,
            "kernelsweep: before and after",
            explorer_scripts(points),
            packed_points=packed(points),
            command="",
            heading="Before and after",
            compared="time after / before",
            files=["comparison.csv", "comparison.json"],
            verdict=summary["verdict"],
            forest=forest(summary),
            text=to_html(text, "comparison", "Before and after", page.parent, page.parent),
        ),
        encoding="utf-8",
    )
