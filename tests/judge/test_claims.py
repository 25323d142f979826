"""Claims: the file has the sources' statements, and each verdict follows from the measurements or says why not."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml
from checkout import ROOT
from matplotlib.collections import LineCollection
from recorded import recorded
from synthetic_sweep import EMULATOR, H200, UNROLLING, fail, metrics, sweep

from kernelsweep.errors import UserError
from kernelsweep.judge.claims.claim import CLAIM_VERDICTS, UNKNOWN_CAUSE, Claim, decide, own_claims, published_claims
from kernelsweep.judge.claims.judge import Judged, judge
from kernelsweep.judge.claims.report import claim_row, claims_text, held_text
from kernelsweep.judge.data.published import SPEEDUP
from kernelsweep.judge.data.study_data import Metrics, StudyData
from kernelsweep.project.project import load_config, load_study
from kernelsweep.publish.figures.claim_rows import claim_rows
from kernelsweep.publish.figures.claims import draw, draw_files
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.sections import claims_figures
from kernelsweep.results import CLAIM_COLUMNS, write_rows
from kernelsweep.statistics import Interval
from kernelsweep.study.settings import read_yaml, study_names

PUBLISHED = ROOT / "resources/published"
CLAIMS = published_claims(PUBLISHED / "claims.csv")

# unrolled by 8 takes 27.0 µs in the synthetic sweep, unrolled_warps by 8 takes 24.83: 1.087 times as fast.
SIDES = {"kernel": "unrolled_warps", "unroll": 8, "reference_kernel": "unrolled", "reference_unroll": 8}
WORDS = {"id": "warps", "study": "unrolling", "claim": "`unrolled_warps` is faster.", "source": "a test"}
CLAIM = Claim(**WORDS, **SIDES, quantity=SPEEDUP, relation="above", value=1)


def evidence(rows: pandas.DataFrame | None = None, device: dict[str, Any] = H200, **changes: Any) -> StudyData:
    rows = sweep(UNROLLING, device) if rows is None else rows
    rows = rows.assign(binary_sha256=rows["binary_sha256"].astype(object).fillna(""))
    return replace(StudyData(UNROLLING, rows, device), **changes)


def judge_one(claim: Claim, of: StudyData, varying: Mapping[str, float] | None = None) -> Judged:
    (judged,) = judge([claim], of, varying or {})
    return judged


def page_of(*what: Any) -> str:
    """The page, without the spaces that line its columns up."""
    return re.sub(r" +", " ", claims_text(*what))


@pytest.mark.parametrize(("relation", "holds", "fails", "straddles"), [
    ("about", (1.9, 2.1), (2.11, 2.3), (2.05, 2.15)), ("equal", (2.0, 2.0), (2.01, 2.02), (1.99, 2.01)),
    ("at_least", (2.0, 2.1), (1.8, 1.99), (1.99, 2.0)), ("at_most", (1.9, 2.0), (2.01, 2.1), (2.0, 2.01)),
    ("above", (2.01, 2.1), (1.9, 2.0), (2.0, 2.1)), ("below", (1.9, 1.99), (2.0, 2.1), (1.9, 2.0)),
])  # fmt: skip
def test_the_whole_interval_decides(relation: str, holds: Any, fails: Any, straddles: Any) -> None:
    verdicts = ("holds", "does not hold", "not decidable")
    for verdict, (low, high) in zip(verdicts, (holds, fails, straddles), strict=True):
        assert decide(relation, Interval((low + high) / 2, low, high), 2.0, 0.1) == verdict


def test_a_speedup_is_the_references_time_over_the_kernels_with_an_interval() -> None:
    judged = judge_one(CLAIM, evidence())
    assert judged.verdict == "holds"
    assert judged.measured is not None
    assert judged.measured.value == pytest.approx(27.0 / 24.83)
    # Intervals of 0.4% below and 0.6% above on both sides, added as squares.
    assert judged.measured.low == pytest.approx(27.0 / 24.83 * (1 - 0.0072), rel=2e-4)
    about = CLAIM.changed(relation="about", value=1.08, tolerance=0.01)
    assert judge_one(about, evidence()).verdict == "not decidable", "1.080 to 1.095 straddles 1.09"
    assert judge_one(CLAIM.changed(relation="at_least", value=1.2), evidence()).verdict == "does not hold"


def test_a_ratio_of_1_is_no_change_whatever_the_tolerance() -> None:
    gain = {"relation": "about", "value": 1.04, "tolerance": 0.05, "is_ratio": True}
    assert decide(measured=Interval(1.0, 1.0, 1.0), **gain) == "does not hold"
    assert decide(measured=Interval(1.01, 0.99, 1.03), **gain) == "not decidable"
    assert decide(measured=Interval(1.03, 1.01, 1.05), **gain) == "holds"
    assert decide(measured=Interval(0.99, 0.99, 1.01), **{**gain, "value": 1.01}) == "holds", "claims no change"


def test_the_range_of_a_claim_is_the_one_that_judges() -> None:
    texts = {claim.id: claim.holds_if for claim in CLAIMS}
    assert texts["stepwise-sequential_addressing-over-strided_index-branch"] == "0.905 to below 1"
    assert "1.001" not in " ".join(texts.values())


def test_a_claim_names_the_sizes_at_which_it_turns_and_one_about_every_size_is_decided_by_all() -> None:
    # At 2¹⁶ both take little more than the launch: 1.3% between them is less than the claim's 5%.
    gain = CLAIM.changed(relation="at_least", value=1.05)
    row = claim_row(one := judge_one(gain, evidence()))
    assert (row["verdict"], row["size"], row["fails_at"], row["sizes_held"]) == ("holds", "2²⁴", "2¹⁶ to 2²⁰", "5 of 8")
    assert row["elsewhere"] == "not at 2¹⁶ to 2²⁰; hot: not at 2¹⁶ to 2²⁰, not decidable at 2²²"
    few, many = (judge_one(gain.changed(id="few", at={"array_size": size}), evidence()) for size in (2**16, 2**28))
    assert (few.verdict, many.verdict) == ("does not hold", "holds")
    text = page_of([one, few, many], {"unrolling": "Unrolling"}, H200)
    for verdict in ("✓ holds at 2²⁴; not at 2¹⁶ to 2²⁰", "✗ does not hold at 2¹⁶; holds at 2²² to 2³⁰"):
        assert f"| {verdict} |" in text
    # Pins: "2 of 2 claims hold" beside sizes at which they don't.
    assert held_text([row]) == "1 of 1 claims hold at 2²⁴ (1 of these fails at another size)"
    rows = [*map(claim_row, (one, few, many))]
    assert held_text(rows) == "2 of 3 claims hold at their sizes (2 of these fail at another size)"
    every = claim_row(judge_one(gain.changed(at={"array_size": "every"}), evidence()))
    assert every["verdict"] == "holds at 2²² to 2³⁰, not at 2¹⁶ to 2²⁰"
    assert every["message"] == "at 2²⁴"
    assert every["elsewhere"] == "hot: holds at 2²⁴ to 2³⁰, not at 2¹⁶ to 2²⁰, not decidable at 2²²"
    little = judge_one(gain.changed(value=0.9, at={"array_size": "every"}), evidence())
    assert claim_row(little)["verdict"] == "holds", "all sizes agree"
    assert "| ✓ holds at each of 8 sizes |" in page_of([little], {"unrolling": "Unrolling"}, H200)
    assert held_text([claim_row(little)]) == "1 of 1 claims hold at every size"
    # Pins: "2 of 2 claims hold" of aims of our own, on matmul's first screen, where a claim is what somebody published.
    goal = judge_one(gain.changed(source="goal"), evidence())
    met = "ur goals: 1 of 1 met at 2²⁴ (1 of these missed at another size)"
    assert held_text([claim_row(goal)]) == f"O{met}" and page_of([goal], {}, H200).startswith("# Our goals\n")
    assert held_text([claim_row(little), claim_row(goal)]) == f"1 of 1 claims hold at every size; o{met}"
    assert page_of([little, goal], {}, H200).startswith("# Claims and our goals\n")


def test_what_does_not_hold_names_its_cause_and_only_there() -> None:
    study = UNROLLING.changed(causes={"other hardware": "It has more memory.", "our form": "It has no `volatile`."})
    wrong = CLAIM.changed(value=3, source_device="NVIDIA A100", cause="other hardware")
    claims = [wrong, wrong.changed(cause=""), wrong.changed(source_device="NVIDIA H200"), wrong.changed(value=1)]
    judged = judge(claims, evidence(settings=study), {})
    unknown = "cause not known"
    assert [claim_row(one)["cause"] for one in judged] == ["other hardware", unknown, unknown, ""], "by device"
    text = page_of(judged, {"unrolling": "Unrolling"}, H200, (), {"unrolling": study.causes})
    assert "- **other hardware** (1): It has more memory." in text and f"- **{unknown}** (2): " in text
    assert "our form" not in text and "<summary>✗ does not hold, other hardware: 1</summary>" in text
    assert "| other hardware |" not in text, "as the heading says it"
    with pytest.raises(UserError, match=r"warps: cause is 'weather'.* Allowed: other hardware, our form"):
        judge([wrong.changed(cause="weather")], evidence(settings=study), {})


@pytest.mark.parametrize("quantity", ["speedup", "branch"])
@pytest.mark.parametrize("side", ["unrolled_warps", "unrolled"])
def test_a_kernel_whose_proof_failed_decides_no_claim(quantity: str, side: str) -> None:
    of, claim = profiled(UNROLLING), CLAIM.changed(quantity=quantity)
    assert judge_one(claim, of).verdict in ("holds", "does not hold")
    flags = of.measurements["flags"].where(of.measurements["kernel"] != side, "proof_failed")
    judged = judge_one(claim, replace(of, measurements=of.measurements.assign(flags=flags)))
    assert (judged.verdict, judged.message) == ("not measured", f"{side} unroll=8: proof failed")


def test_what_can_not_be_judged_says_why() -> None:
    broken = fail(sweep(UNROLLING, H200), "wrong_result", "expected 1, found 2", kernel="unrolled", unroll=8)
    assert judge_one(CLAIM, evidence(broken)).message == "unrolled unroll=8: wrong result: expected 1, found 2"
    assert judge_one(CLAIM, evidence(device=EMULATOR)).message == "no times on this platform"
    assert judge_one(CLAIM.changed(kernel="gone"), evidence()).message == "gone unroll=8 is not in this sweep"
    unprofiled = judge_one(CLAIM.changed(quantity="barrier_stall"), evidence())
    told = "barrier_stall of unrolled_warps unroll=8 was not collected"
    assert (unprofiled.verdict, unprofiled.message) == ("not measured", told)


def profiled(study: dict[str, Any]) -> StudyData:
    rows = sweep(study, H200)
    settings = study | {"metrics": ["barrier_stall", "branch", "bank_conflict"]}
    return evidence(rows, metrics=metrics(settings, "synthetic", rows, H200))


def test_no_counter_of_another_build_and_no_ratio_to_nothing() -> None:
    of = profiled(UNROLLING)
    branches = CLAIM.changed(quantity="branch", relation="below")
    old = replace(of, measurements=of.measurements.assign(binary_sha256="new"))
    old = replace(old, metrics=Metrics(of.metrics.rows.assign(binary_sha256="old")))
    assert "another build" in judge_one(branches, old).message
    none = of.metrics.rows.assign(value=0.0)
    assert "no ratio" in judge_one(branches, replace(of, metrics=Metrics(none))).message


# The published claims


@pytest.mark.parametrize(("written", "instead", "message"), [
    (",above,1,", ",above,one,", "neighbored_less-faster-than-neighbored: could not convert"),
    ("id,study,claim,", "id,study,sentence,", "claim"),
])  # fmt: skip
def test_a_mistake_in_the_file_is_named(tmp_path: Path, written: str, instead: str, message: str) -> None:
    text = (PUBLISHED / "claims.csv").read_text()
    assert written in text
    (tmp_path / "claims.csv").write_text(text.replace(written, instead, 1))
    with pytest.raises(UserError, match=message):
        published_claims(tmp_path / "claims.csv")


# On the recording


@cache
def recording() -> dict[str, Judged]:
    """The published claims, judged by the recording."""
    metrics = load_config(read_yaml(ROOT / "config/metrics.yaml", "metrics.yaml"), ROOT).metrics
    varying = {name: entry.uncertainty for name, entry in metrics.items()}
    judged = []
    for name in study_names(ROOT):
        judged += judge([claim for claim in CLAIMS if claim.study == name], recorded(name), varying)
    return {one.claim.id: one for one in judged}


def test_an_h200_decides_every_published_claim_or_says_that_it_straddles() -> None:
    judged = recording()
    assert len(judged) == len(CLAIMS)
    held, failed, _, _, missing = (
        {claim for claim, one in judged.items() if one.verdict == verdict} for verdict in CLAIM_VERDICTS
    )
    assert not [one.claim.id for one in judged.values() if one.cause == UNKNOWN_CAUSE]
    reasons = "was not collected|is not in this sweep|Profiled in another build"
    for claim in missing:
        assert re.search(reasons, judged[claim].message), claim
    # Claims that follow from the kernels alone hold on every GPU.
    assert {one for one in judged if one.endswith("-efficiency") or one.startswith("exchanges-")} <= held | missing
    assert {one for one in judged if one.startswith("loops-") and "-faster-than-" in one} <= held
    # 106 µs in 24 launches against 71 in three; and a last step that lost time on an AMD GPU and gains here.
    assert "staged-staged_global-faster-than-halving" in held
    assert "stepwise-last_warp_unrolled_volatile-slower-than-first_add_on_load" in failed


def test_claims_that_name_a_number_are_drawn_with_how_far_from_it_ours_are(tmp_path: Path) -> None:
    write_rows(tmp_path / "claims.csv", CLAIM_COLUMNS, rows := [*map(claim_row, recording().values())])
    stories = {name: [step.name for step in recorded(name).steps] for name in study_names(ROOT)}
    draw_files(file := tmp_path / "claims.csv", recorded("unrolling").device, drawn := tmp_path / "drawn", stories)
    (figure,) = claims_figures(drawn, file, tmp_path)
    numbers = [row for row in rows if row["relation"] == "about" and row["measured"] and row["published"] != "0"]
    hold = sum(row["verdict"] == "holds" for row in numbers)
    told = f"Of {len(numbers)} claims with a number above 0, {hold} hold. "
    assert "a published 0 (sequential_addressing: holds)" in figure.caption, "nothing is left out silently"
    of_all = f"Of all claims, {held_text(rows).replace('claims hold', 'hold')}."
    assert figure.message == told + of_all and "of 155 hold at their sizes (4 of these fail at another size)" in of_all
    picture = draw(rows, recorded("unrolling").device, stories)
    (axes,) = picture.figure.axes
    # Pins: numbers at the foot alone, a screen or two below the first rows.
    assert "1.00" in [tick.label2.get_text() for tick in axes.xaxis.get_major_ticks() if tick.label2.get_visible()]
    (marks,) = (marks for marks in axes.collections if not isinstance(marks, LineCollection))
    assert len({*map(tuple, marks.get_offsets().tolist())}) == len(picture.rows), "none lies on another"
    assert picture.rows["count"].sum() == len(numbers), "equal ones share a mark"
    # On paper, each claim that doesn't hold, or is near its limit, has its kernel's name.
    names = {label.get_text() for label in axes.get_yticklabels()}
    assert {"30 more hold: 1.00–1.07", "unrolled ×4", "unrolled ×2 / neighbored", "shared_memory ×4 / ×1"} <= names
    # What holds is on its bar, which is what the claim allows, and nothing else is within one; in rounded numbers.
    of = picture.rows.set_index("verdict")
    assert ((of["least"] <= of["low"]) & (of["high"] <= of["most"]))["holds"].all()
    assert not ((of["least"] < of["low"]) & (of["high"] < of["most"]))["does not hold"].any()
    assert [file.text for file in figure.files] == ["SVG", "PDF", "claims.csv"]
    page = to_html(page_of([*recording().values()], dict.fromkeys(study_names(ROOT), "a"), H200), "", "", ROOT, ROOT)
    linked = {*re.findall('href="#(claim-[^"]+)"', figure.drawing)}
    assert len(linked) == len(picture.rows) and all(f'<a id="{claim}"></a>' in page for claim in linked)
    loops = [row for row in numbers if row["source"] == "unrolling-loops"]
    held = f"{sum(row['verdict'] == 'holds' for row in loops)} of {len(loops)} hold"
    for picture in (figure.drawing, figure.narrow):
        assert (
            f">unrolling-loops at 2²⁴: {held}<" in picture
            and ">staged at every size: 0 of 1 hold, 1 at 4 of 5 sizes<" in picture
        )
    # Pins: "unrolling-loops at : 8 of 8 hold", as of a study without an axis of sizes, and "at every: 8 of 8 hold".
    for size, at in (("", ""), ("every", " at every size")):
        of_size = [row | {"size": size} for row in loops]
        assert {*claim_rows(of_size, stories)["head"]} == {f"unrolling-loops{at}: {held}"}
    write_rows(tmp_path / "claims.csv", CLAIM_COLUMNS, [row for row in rows if row not in numbers])
    draw_files(file, {}, empty := tmp_path / "empty", stories)
    assert not claims_figures(empty, file, tmp_path)


def test_the_document_counts_what_the_recording_says() -> None:
    """The tables of docs/measured/claims.md, by study, by code and by cause."""
    page = (ROOT / "docs/measured/claims.md").read_text()
    judged = list(recording().values())
    studies = Counter((one.claim.study, one.verdict) for one in judged)
    for study in {one.claim.study for one in judged}:
        assert f"| {study} | {' | '.join(str(studies[study, verdict]) for verdict in CLAIM_VERDICTS[:-1])} |" in page
    of_code = {
        "": "the source prints",
        "not printed": "describes (`not printed`)",
        "our reading": "names (`our reading`)",
    }
    for code, words in {**of_code, "ours": "our own (`ours`)"}.items():
        cells = []
        for kind in ("direction", "amount", "output"):
            hold = [one.verdict == "holds" for one in judged if (one.claim.code, one.claim.kind) == (code, kind)]
            cells.append(f" {sum(hold)} of {len(hold)} " if hold else " ")
        assert f"{words} |{'|'.join(cells)}|" in page
    for cause, number in Counter(one.cause for one in judged if one.cause).items():
        assert f"| {cause} | {number} |" in page
    printed = sum(not one.claim.code for one in judged)
    assert f"{printed} of the {len(judged)} claims are about code that their source prints" in page


def test_an_exchange_that_leaves_something_else_does_not_hold() -> None:
    claims = [claim for claim in CLAIMS if claim.id == "exchanges-shift_up"]
    rows = recorded("exchanges").measurements.copy()
    rows.loc[rows["kernel"] == "shift_up", "output"] = "0 0 1 2"
    settings = load_study("exchanges", ROOT).settings
    judged = judge(claims, evidence(rows, settings=settings), {})
    assert [(one.verdict, one.output) for one in judged] == [("does not hold", "0 0 1 2")]
    text = page_of(judged, {"exchanges": "Exchanges"}, H200)
    assert "| these elements | 0 0 1 2 |" in text


# The reader's view


def test_a_study_has_claims_of_its_own(tmp_path: Path) -> None:
    """The example in the documents, as it is written there; and one that doesn't hold."""
    (example,) = re.findall(r"```yaml\n(claims:\n.*?)```", (ROOT / "docs/claims.md").read_text(), re.DOTALL)
    (entry,) = yaml.safe_load(example)["claims"]
    wrong = entry | {"claim": "By 16 | it is faster still.", "value": 3, "id": "wrong", "source": "a friend"}
    shipped = yaml.safe_load((ROOT / "config/studies/unrolling.yaml").read_text())
    (tmp_path / "config/studies").mkdir(parents=True)
    study = tmp_path / "config/studies/unrolling.yaml"
    study.write_text(yaml.safe_dump(shipped | {"claims": [entry, wrong]}))
    for name in ("kernels", "workflow", "resources"):
        (tmp_path / name).symlink_to(ROOT / name)
    first, second = own_claims("unrolling", load_study("unrolling", tmp_path).settings.claims)
    assert (first.id, first.source, first.at) == ("unrolling-1", "own claim", {"array_size": 2**28})
    assert (second.id, second.source) == ("wrong", "a friend")
    judged = judge([first, second], evidence(), {})
    assert [one.verdict for one in judged] == ["holds", "does not hold"], "1.068 in the synthetic sweep"
    text = page_of(judged, {"unrolling": "Unrolling"}, H200)
    (row,) = [line for line in text.splitlines() if "faster still" in line]
    assert row.startswith(r"| ✗ does not hold at 2²⁸ | cause not known | By 16 \| it is faster still. | at least 3 | ")
    assert row.endswith("| a friend |")
    assert "| study | ✓ holds | of these ✗ at another size | ✗ does not hold |" in text
    assert "| unrolling | 1 | 1 | 1 |" in text
    # What holds unfolds, on the page as on GitHub.
    assert text.index(row) < text.index("<summary>✓ holds: 1</summary>")
    html = to_html(text, "claims", "claims", ROOT, ROOT)
    assert "<details><summary>✓ holds: 1</summary>\n<div" in html and html.count("</details>") == 2


def test_the_file_has_the_contracts_columns_first_and_numbers_that_programs_read(tmp_path: Path) -> None:
    missing = CLAIM.changed(id="missing", at={"array_size": 3})
    rows = [claim_row(one) for one in judge([CLAIM, missing], evidence(), {})]
    write_rows(tmp_path / "claims.csv", CLAIM_COLUMNS, rows)
    there, absent = csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text()))
    contract = ["study", "claim", "source", "source_device", "published", "measured", "low", "high", "verdict"]
    assert list(there)[: len(contract)] == contract
    assert float(there["low"]) < float(there["measured"]) < float(there["high"])
    assert (there["published"], there["verdict"]) == ("1", "holds")
    assert absent["measured"] == absent["low"] == absent["high"] == ""
    assert "not in this sweep" in absent["message"]
