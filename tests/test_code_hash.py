"""Which edits of a kernel's source count: edits of its code, not of comments that move no line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernelsweep import code_hash as hashing
from kernelsweep.code_hash import code_hash

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
    ("/* of the block's */", "/* \"'// */", False),
    ("/* two\n   lines */", "/*\n*/", False),
    ("int size;\n", "int size;  // in bytes\n", False),
    ("one \\\n   comment", "\\\nanother", False),
    ("1'000", "1'001", True),
    ('"// none"', '"// no"', True),
    ('R"(/* " */)"', 'R"(/* \' */)"', True),
    ("int size", "int sizes", True),
    ("int last;", "long last;", True),
    ("A sum.", "The sum.", True),  # The page shows it.
    ("/* two\n   lines */", "/* a line */", True),  # Messages name the lines below.
])  # fmt: skip
def test_an_edit_of_code_counts_and_one_of_a_comment_does_not(tmp_path: Path, old: str, new: str, counts: bool) -> None:
    assert SOURCE.count(old) == 1
    before, after = tmp_path / "before.cu", tmp_path / "after.cu"
    before.write_text(SOURCE, encoding="utf-8")
    after.write_text(SOURCE.replace(old, new), encoding="utf-8")
    assert (code_hash([before]) != code_hash([after])) == counts


def test_a_modules_code_is_kept_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: kept code that gives another hash than the first run had, or that is of an older text.
    module = tmp_path / "module.py"
    written: list[str] = []
    write_code = hashing._code
    monkeypatch.setattr(hashing, "_code", lambda source: written.append(source) or write_code(source))

    def hashed(text: str) -> str:
        module.write_text(text, encoding="utf-8")
        hashing._kept_code.cache_clear()  # as in another process
        return code_hash([module])

    text, edited = "side = 'é'  # of a tile\n", "side = 'è'\n"
    of_others = [hashed(each) for each in (text, edited)]
    assert not list(tmp_path.glob("__pycache__")), "a user's folder stays as it is"
    monkeypatch.setattr(hashing, "_SCRIPTS", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written.clear()
    assert [hashed(each) for each in (text, text, edited, edited, text)] == [of_others[at] for at in (0, 0, 1, 1, 0)]
    assert written == [text, edited, text]
    (kept,) = tmp_path.glob("__pycache__/*")
    kept.write_bytes(kept.read_bytes()[:70] + b"\xff")
    assert hashed(text) == of_others[0]
