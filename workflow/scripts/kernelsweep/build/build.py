"""Build one kernel with all its variants, for a GPU architecture or for the emulator, and report on each variant."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.build import gcc, nvcc
from kernelsweep.build.build_report import Report, new_report
from kernelsweep.build.translation_unit import cuda_unit, emulator_unit
from kernelsweep.errors import BuildError
from kernelsweep.sweep.kernels.build_targets import target_named


def build(kernel_file: Path, binary: Path, target: str, names: Sequence[str], include: Path, emulator: Path) -> Report:
    """Compile `kernel_file` into `binary` with the variants `names`.

    target    an architecture such as sm_90, "emulator" or "counting"
    include   the folder of the kernels' common headers
    emulator  the folder of the emulator's C++ headers

    A kernel that doesn't compile gets a report with the status build_failed and an empty binary, so that the run
    continues with the other kernels. Raises BuildError if the compiler is missing.
    """
    binary.parent.mkdir(parents=True, exist_ok=True)
    compiled_for = target_named(target)
    unit = binary.with_suffix(".cpp" if compiled_for.is_emulator else ".cu")
    compiler = gcc.version() if compiled_for.is_emulator else nvcc.version()
    report = new_report(target, compiler)
    if not names:  # Every point is skipped.
        binary.write_bytes(b"")
        return report
    try:
        if compiled_for.is_emulator:
            unit.write_text(emulator_unit(str(kernel_file.resolve()), names))
            report["message"] = gcc.compile_for_emulator(
                unit, binary, [emulator, emulator / "include", include], counting=compiled_for.counts
            )
            digest = hashlib.sha256(binary.read_bytes()).hexdigest()
            report["variants"] = {name: {"entry": entry, "binary_sha256": digest} for entry, name in enumerate(names)}
        else:
            unit.write_text(cuda_unit(str(kernel_file.resolve()), kernel_file.read_text(encoding="utf-8"), names))
            output = nvcc.compile_cubin(unit, binary, target, [include])
            report["message"] = nvcc.warnings(output)
            report["variants"] = nvcc.variant_reports(output, binary)
    except BuildError as error:
        report.update(status="build_failed", message=str(error))
        binary.write_bytes(b"")
    return report
