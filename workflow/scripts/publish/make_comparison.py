"""Make the page of a comparison, which needs no other file."""

import re
from pathlib import Path

from kernelsweep.json_files import read_json
from kernelsweep.logs import logged
from kernelsweep.publish.html_files import COMPARISON_TEMPLATE
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.page.forest import forest
from kernelsweep.publish.page.markdown import to_html

with logged(snakemake.log[0]):
    page, summary = Path(snakemake.output[0]), read_json(snakemake.input.summary)
    text = Path(snakemake.input.text).read_text(encoding="utf-8")
    # The page has the verdict and the sizes as the forest.
    text = "Before: " + text.partition("\nBefore: ")[2]
    text = re.sub(r"## By size\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL)
    body = to_html(text, "comparison", "Before and after", page.parent, page.parent)
    content = {"verdict": summary["verdict"], "forest": forest(summary), "text": body}
    page.write_text(html_text(COMPARISON_TEMPLATE, "kernelsweep: before and after", **content), encoding="utf-8")
