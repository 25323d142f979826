"""Which edits of a kernel's source count: edits of its code, not of comments that move no line."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import ROOT

from kernelsweep.base.code_hash import code_hash, imported_modules

SOURCE = """\
// A sum.
#include "tree.cuh"

const int many = 1'000; // the number
const char *text = "// none", quote = '"'; /* of the block's */ int size;
/* two
   lines */
auto raw = R"(/* " */)"; // '
int last; // one \\
   comment
"""


@pytest.mark.parametrize(("old", "new", "counts"), [
    ("// the number", "// a number, isn't it?", False),
    (" // the number", "", False),
    ("/* two\n   lines */", "/*\n*/", False),
    ("one \\\n   comment", "\\\nanother", False),
    ("1'000", "1'001", True),
    ('R"(/* " */)"', 'R"(/* \' */)"', True),
    ("int size", "int sizes", True),
    ("A sum.", "The sum.", True),  # The page shows it.
    ("/* two\n   lines */", "/* a line */", True),  # Messages name the lines below.
])  # fmt: skip
def test_an_edit_of_code_counts_and_one_of_a_comment_does_not(tmp_path: Path, old: str, new: str, counts: bool) -> None:
    assert SOURCE.count(old) == 1
    before, after = tmp_path / "before.cu", tmp_path / "after.cu"
    before.write_text(SOURCE, encoding="utf-8")
    after.write_text(SOURCE.replace(old, new), encoding="utf-8")
    assert (code_hash([before], True) != code_hash([after], True)) == counts
    is_story = old == "A sum."
    assert (code_hash([before]) != code_hash([after])) == (counts and not is_story)


def test_templates_and_what_pages_contain_are_code_of_the_jobs_that_fill_them() -> None:
    scripts = ROOT / "workflow/scripts"
    code = {file for script in scripts.glob("*/*.py") for file in imported_modules(script)}
    beside = {file for name in ("judge", "publish") for file in (scripts / "kernelsweep" / name).rglob("*.*")}
    assert {file for file in beside if file.suffix not in (".py", ".pyc")} <= code
    assert scripts / "kernelsweep/publish/page/style.css" in imported_modules(scripts / "publish/make_page.py")
