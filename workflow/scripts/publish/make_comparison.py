"""Make the page of a comparison, which needs no other file."""

from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.publish.html_files import COMPARISON_TEMPLATE
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.page.sections import chapter_section

with logged(snakemake.log[0]):
    page = Path(snakemake.output[0])
    section = chapter_section("comparison", page.parents[1])
    text = html_text(COMPARISON_TEMPLATE, f"kernelsweep: {section.title}", section=section)
    page.write_text(text, encoding="utf-8")
