"""Make the page of a comparison, which needs no other file."""

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from kernelsweep.logs import logged
from kernelsweep.publish.html_files import COMPARISON_TEMPLATE, STYLE, policy
from kernelsweep.publish.page.sections import chapter_section

with logged(snakemake.log[0]):
    page = Path(snakemake.output[0])
    section = chapter_section("comparison", page.parents[1])
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        COMPARISON_TEMPLATE.read_text("utf-8")
    )
    page.write_text(template.render(section=section, style=STYLE.read_text("utf-8"), policy=policy([])), "utf-8")
