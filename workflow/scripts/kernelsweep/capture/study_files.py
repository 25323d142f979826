"""Write captured launches as a study: data, the original machine code, a problem.py, and a kernel of the source."""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from elftools.common.utils import struct_parse
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.elffile import ELFFile

from kernelsweep.base.json_files import write_json
from kernelsweep.compile.binaries import CONSTANT_MEMORY, variables
from kernelsweep.compile.nvcc import demangled, name_and_types, resources_in
from kernelsweep.errors import UserError
from kernelsweep.home import HOME
from kernelsweep.study.captured import ARRAYS, CODE, FOLDER, RECORD, Bytes
from kernelsweep.study.problem.problem import CXX_TYPES, Elements
from kernelsweep.study.problem.user_module import RESERVED

_DTYPES = {cxx: name for name, cxx in CXX_TYPES.items() if name not in ("bool", "bfloat16")}
_DTYPES |= {"char": "int8", "long long": "int64", "unsigned long long": "uint64", "bool": "uint8"}
# A kernel of more threads is left to the GPU: of 2^23 short ones, the emulator takes 8 s and 1.7 GB.
_MOST_EMULATED = 2**23

_PROBLEM = '''"""What {name} computed in {program}: captured by kernelsweep, see docs/capture.md."""

from kernelsweep.study.captured import captured

inputs, outputs, reference, error_bound, launches = captured(__file__)
'''
_ORIGINAL = '''"""The machine code that {program} ran, SHA-256 {sha256}."""

from kernelsweep.study.captured import captured_code


def build(arch):
    return captured_code(__file__, arch)
'''


@dataclass(frozen=True)
class Source:
    """The file of a kernel, from which a second kernel is built.

    options     for nvcc, as the program has them
    parameters  the name and NumPy's type of each; the type is empty where it isn't known
    """

    file: Path
    options: Sequence[str]
    parameters: Sequence[tuple[str, str]]


@dataclass
class Captured:
    """Launches of one kernel, read from what capture.cpp has left.

    launches  by number, as capture.json has them
    contents  bytes by the names under which the launches know them
    notes     what a reader of the results has to know
    """

    symbol: str
    name: str
    image: bytes
    first: Mapping[str, Any]
    source: Source | None = None
    launches: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def function(self) -> str:
        """The C++ function, with its template arguments."""
        return name_and_types(self.name)[0].removeprefix("void ").replace("(anonymous namespace)::", "")

    @property
    def bytes(self) -> int:
        """The bytes of all arrays of the launch that has the most."""
        each = (sum(one["bytes"] for one in launch["arrays"].values()) for launch in self.launches.values())
        return int(max(each))

    def keep(self, contents: Bytes) -> str:
        """Keep an array's bytes once; their name."""
        name = hashlib.sha256(contents.tobytes()).hexdigest()[:16]
        self.contents.setdefault(name, contents)
        return name

    def keep_after(self, before: Bytes, after: Bytes) -> str:
        """Keep what a launch has added to each byte, mostly zeros, which take no room; "" where nothing differs."""
        added = after - before
        return self.keep(added) if added.any() else ""


def read_launches(
    records: Sequence[Mapping[str, Any]], folder: Path, find_source: Callable[[str, bytes], Source | None]
) -> Captured:
    """Captured launches of one kernel. Raises UserError for several kernels, and for a launch that changed nothing.

    find_source  finds the source of a kernel by its C++ name and its module's image, if there is one
    """
    symbols = list(dict.fromkeys(one["kernel"] for one in records))
    if len(symbols) > 1:
        raise UserError(f"Launches of several kernels: {', '.join(demangled(symbols))}. Narrow --kernel down.")
    images = {hashlib.sha256(code).digest(): code for code in (_read(folder, name) for name in records[0]["images"])}
    kept = [code for code in images.values() if _registers(code, symbols[0], folder) == records[0]["registers"]]
    if not images:
        raise UserError(f"The machine code of {demangled(symbols)[0]} was not seen when the program loaded it.")
    name, image = demangled(symbols)[0], (kept or [*images.values()])[-1]
    captured = Captured(symbols[0], name, image, records[0], find_source(name, image))
    if len(images) > 1:
        captured.notes.append(f"{len(images)} modules have this kernel; one with its registers was taken")
    for record in records:
        captured.launches[str(record["number"])] = _launch(captured, record, folder)
    _add_variables(captured, records, folder)
    for number, launch in captured.launches.items():
        if not any(array["after"] for array in launch["arrays"].values()):
            raise UserError(
                f"Launch {number} of {captured.name} changed no byte of its {len(launch['arrays'])} buffers: it wrote "
                "what was there already, or memory that its parameters don't lead to. Try another --launch."
            )
    return captured


def _launch(captured: Captured, record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A launch as capture.json has it; its arrays' bytes are kept."""
    parameters = _parameters(captured, record)
    names = _names(parameters)
    arrays = {}
    for buffer in record["buffers"]:
        name, dtypes = names[buffer["address"]]
        before, after = (_read(folder, buffer[when]) for when in ("before", "after"))
        arrays[name] = array_of(captured, _array_type(dtypes, after), before, after)
        if buffer["addresses"]:
            captured.notes.append(f"{name} holds {buffer['addresses']} addresses; what they point to is not captured")
    for one in parameters:
        one["pointers"] = [(place, names[address][0], offset) for place, address, offset in one["pointers"]]
        is_plain = [(place, offset) for place, _, offset in one["pointers"]] == [(0, 0)] and len(one["hex"]) == 16
        one["array"] = one["pointers"][0][1] if is_plain else ""
    if others := record["attributes"]["others"]:
        numbers = ", ".join(map(str, others))
        captured.notes.append(f"left out: attributes {numbers} of the launch, as cuda.h counts them")
    return {
        **{key: record[key] for key in ("grid", "block", "shared")},
        **{key: record["attributes"][key] for key in ("cluster", "cooperative")},
        "parameters": parameters,
        "arrays": arrays,
    }


def _parameters(captured: Captured, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A launch's parameters: name, bytes, NumPy's type of a scalar or of what it points to, and addresses inside.

    An address is its place, its buffer's start, and the bytes from there. The types are those of the kernel's mangled
    name, or else of the source.
    """
    types, given = name_and_types(captured.name)[1], record["parameters"]
    types = types if len(types) == len(given) else [""] * len(given)
    named = captured.source.parameters if captured.source else ()
    named = named if len(named) == len(given) else [("", "")] * len(given)
    found = []
    for number, (one, text, (name, dtype)) in enumerate(zip(given, types, named, strict=True)):
        content = bytes.fromhex(one)
        words = range(0, len(content) - 7, 8)
        pointers = [
            (place, buffer["address"], address - buffer["address"])
            for place, address in ((at, int.from_bytes(content[at : at + 8], "little")) for at in words)
            for buffer in _around(address, record["buffers"])
        ]
        dtype = _DTYPES.get(text.replace(" const", "").removesuffix("*"), "" if dtype == "bfloat16" else dtype)
        if not pointers and (not dtype or np.dtype(dtype).itemsize != len(content)):
            dtype = f"uint{8 * len(content)}" if len(content) in (1, 2, 4, 8) else ""
        name = f"{name}_" if name in (*RESERVED, "launch", "cache") else name or f"p{number}"
        found.append({"name": name, "hex": one, "dtype": dtype, "pointers": pointers})
    return found


def _around(address: int, buffers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The buffer that an address lies in, or else behind whose end it lies."""
    inside = [one for one in buffers if one["address"] <= address < one["address"] + one["bytes"]]
    return (inside or [one for one in buffers if address == one["address"] + one["bytes"]])[:1]


def _names(parameters: Sequence[Mapping[str, Any]]) -> dict[int, tuple[str, set[str]]]:
    """The name of each buffer, by its address, and the types of the pointers into it.

    A buffer has the name of the first parameter that is a pointer to its start; else that of a parameter that has such
    a pointer inside, with its place.
    """
    each = [(one, *pointer) for one in parameters for pointer in one["pointers"]]
    names: dict[int, tuple[str, set[str]]] = {}
    for one, _, address, offset in each:
        if len(one["hex"]) == 16 and not offset:
            names.setdefault(address, (one["name"], set()))
    for one, place, address, _ in each:
        _, dtypes = names.setdefault(address, (f"{one['name'].rstrip('_')}_{place}", set()))
        if len(one["hex"]) == 16:
            dtypes.add(one["dtype"])
    return names


def array_of(captured: Captured, dtype: str, before: bytes, after: bytes) -> dict[str, Any]:
    """An array as capture.json has it; its bytes are kept."""
    first, second = (np.frombuffer(one, np.uint8) for one in (before, after))
    return {
        "dtype": dtype,
        "bytes": first.size,
        "before": captured.keep(first),
        "after": captured.keep_after(first, second),
    }


def _array_type(dtypes: set[str], after: bytes) -> str:
    """The type of an array's elements; unsigned integers where it isn't known, or is a float and the array has NaN."""
    dtype = np.dtype(next(iter(dtypes)) or "u4" if len(dtypes) == 1 else "u4")
    if len(after) % dtype.itemsize:
        return "uint8"
    if dtype.kind == "f" and np.isnan(np.frombuffer(after, dtype)).any():
        return f"uint{8 * dtype.itemsize}"
    return dtype.name


def _add_variables(captured: Captured, records: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Add the module's variables that the program has set, or a launch changes, to the arrays of all launches."""
    initial = _initial(captured.image)
    for name in dict.fromkeys(one["name"] for record in records for one in record["variables"]):
        section, first = initial.get(name, ("", b""))
        found = {
            str(record["number"]): (_read(folder, one["before"]), _read(folder, one["after"]))
            for record in records
            for one in record["variables"]
            if one["name"] == name
        }
        is_set = any(before != (first or bytes(len(before))) or after != before for before, after in found.values())
        if not section or not is_set:
            continue
        (captured.constants if section == CONSTANT_MEMORY else captured.variables).append(name)
        for number, (before, after) in found.items():
            captured.launches[number]["arrays"][name] = array_of(captured, "uint8", before, after)


def _initial(image: bytes) -> dict[str, tuple[str, bytes]]:
    """The section and the first contents of a module's variables; contents are empty for zeros."""
    found = {}
    for symbol, section in variables(ELFFile(io.BytesIO(image))):
        data = section.data() if section["sh_type"] != "SHT_NOBITS" else b""
        found[symbol.name] = (section.name, data[symbol["st_value"] : symbol["st_value"] + symbol["st_size"]])
    return found


def source_files(image: bytes) -> list[Path]:
    """The source files that a cubin's line table names and that there are on this machine, in its order.

    nvcc writes the table with -lineinfo, as DWARF's, version 2.
    """
    section = ELFFile(io.BytesIO(image)).get_section_by_name(".debug_line")
    table, start = section.data() if section else b"", 0
    form = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8).Dwarf_lineprog_header
    found = []
    while start < len(table):
        head = struct_parse(form, io.BytesIO(table), start)
        folders = [b"", *head.include_directory]
        found += [Path(os.fsdecode(folders[one.dir_index]), os.fsdecode(one.name)) for one in head.file_entry]
        start += 4 + head.unit_length
    return [file for file in dict.fromkeys(found) if file.is_file()]


def _registers(image: bytes, symbol: str, folder: Path) -> int | None:
    (folder / "image").write_bytes(image)
    return dict(resources_in(folder / "image", symbol)).get(symbol, {}).get("registers")


def _read(folder: Path, name: str) -> bytes:
    return (folder / name).read_bytes() if name else b""


def write_capture(folder: Path, captured: Captured, record: Mapping[str, Any], is_final: bool = False) -> None:
    """Write a capture: its arrays, compressed if these are final, its machine code, and last its record.

    git ignores all of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    part = folder / "part"
    how = zipfile.ZIP_DEFLATED if is_final else zipfile.ZIP_STORED
    with zipfile.ZipFile(part, "w", how, compresslevel=1) as archive:
        for name, contents in captured.contents.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(contents), allow_pickle=False)
    part.replace(folder / ARRAYS)
    (folder / CODE).write_bytes(captured.image)
    write_json(part, record)
    part.replace(folder / RECORD)


def make_anonymous(captured: Captured) -> None:
    """Replace the values of all arrays by random ones between their smallest and their largest."""
    random = np.random.default_rng()
    given, captured.contents = captured.contents, {}
    for array in _arrays(captured):
        values = given[array["before"]].view(array["dtype"])
        if values.dtype.kind == "f":
            finite = values[np.isfinite(values)].astype(np.float64)
            low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
            drawn = random.uniform(low, high, values.size).astype(values.dtype)
        else:
            drawn = random.integers(values.min(), values.max(), values.size, values.dtype, endpoint=True)
        array["before"] = captured.keep(drawn.view(np.uint8))
        if array["after"]:  # Not known yet.
            captured.contents[array["after"]] = np.zeros(array["bytes"], np.uint8)


def take_results(captured: Captured, results: Mapping[tuple[str, str], Elements]) -> None:
    """Keep the results of a replay, by launch and array, as those of the captured launches."""
    for (launch, name), after in results.items():
        array = captured.launches[launch]["arrays"][name]
        array["after"] = captured.keep_after(captured.contents[array["before"]], after.view(np.uint8))


def _arrays(captured: Captured) -> list[dict[str, Any]]:
    return [array for launch in captured.launches.values() for array in launch["arrays"].values()]


def study_files(name: str, captured: Captured, program: str, told: str) -> dict[Path, str]:
    """The texts of a study's files, by their paths from the repository's folder.

    told  the study's description
    """
    folder = Path("kernels", name)
    # In a docstring.
    texts = {key: re.sub(r'["\\]', "'", text) for key, text in (("name", captured.name), ("program", program))}
    texts["sha256"] = hashlib.sha256(captured.image).hexdigest()
    host = {"constants": captured.constants, "variables": captured.variables}
    # Lists of their own: YAML would name one that stands twice.
    own, others = ({key: list(names) for key, names in host.items() if names} for _ in range(2))
    kernels: list[dict[str, Any]] = [{"name": "captured", "build": "captured.py", **own}]
    files = {folder / "problem.py": _PROBLEM.format(**texts), folder / "captured.py": _ORIGINAL.format(**texts)}
    if source := captured.source:
        files[folder / f"{name}.cu"] = f'#include "{os.path.relpath(source.file.resolve(), folder.resolve())}"\n'
        kernels.append({"name": name, "function": captured.function, **others, **_of_source(captured, source)})
    study = {
        "title": f"{captured.function}, captured",
        "description": told,
        "problem": f"{folder}/problem.py",
        "data": [f"{folder}/{FOLDER}/{file}" for file in (RECORD, ARRAYS)],
        "axes": {"launch": [int(number) for number in captured.launches]},
        "kernels": kernels,
    }
    schema = os.path.relpath(HOME / "workflow/schemas/study.schema.json", "config/studies")
    text = yaml.safe_dump(study, sort_keys=False, width=118, default_flow_style=None)
    return {Path(f"config/studies/{name}.yaml"): f"# yaml-language-server: $schema={schema}\n{text}", **files}


def _of_source(captured: Captured, source: Source) -> dict[str, Any]:
    """The settings of the kernel that is built from the source: its options, its launch, and where it can run."""
    launches = list(captured.launches.values())
    found: dict[str, Any] = {"options": list(source.options)} if source.options else {}
    threads = max(math.prod(one["grid"] + one["block"]) for one in launches)
    if threads > _MOST_EMULATED:
        found["gpu_only"] = f"its {threads:,} threads take the emulator long; without this line it tries"
    if len(launches) == 1:  # As the study's own lines, which an edit makes expressions over axes of.
        one = launches[0]
        arguments = [parameter["array"] or parameter["name"] for parameter in one["parameters"]]
        sides = {key: _short(one[key]) for key in ("grid", "block", "cluster") if one[key]}
        others = {key: one[key] for key in ("shared", "cooperative") if one[key]}
        found["launches"] = [{**sides, **others, "arguments": arguments}]
    return found


def _short(sides: Sequence[int]) -> list[int]:
    found = list(sides)
    while len(found) > 1 and found[-1] == 1:
        found.pop()
    return found
