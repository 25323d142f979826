"""What variables are declared as, by a library's debugging information: sides, elements and members of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from math import prod

import numpy as np
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.elf.elffile import ELFFile


@dataclass(frozen=True)
class Shape:
    """A variable or an array.

    sides     in elements, as declared; 0 where a side is open; () of a variable
    itemsize  of an element, in bytes
    members   of an element: byte, name and shape of each; () where it has none, or they overlap
    """

    sides: tuple[int, ...]
    itemsize: int
    members: tuple[tuple[int, str, Shape], ...] = ()

    def place(self, offset: int, size: int) -> str:
        """Where an access of `size` bytes begins, as it is written behind the name, such as [3][0].key."""
        index, rest = divmod(offset, self.itemsize)
        indices: list[int] = []
        for side in reversed(self.sides[1:]):
            index, at = divmod(index, side or 1)
            indices.append(at)
        text = "".join(f"[{at}]" for at in (index, *reversed(indices))) if self.sides else ""
        before = [member for member in self.members if member[0] <= rest]
        if before and size < self.itemsize:
            start, name, shape = before[-1]
            text += f".{name}{shape.place(rest - start, size)}"
        return text

    def elements(self, size: int = 0) -> str:
        """How many it has: 8 x 33 elements. `size`: of all in bytes, where the first side is open."""
        rows = size // self.itemsize // (prod(self.sides[1:]) or 1)
        sides = (rows, *self.sides[1:]) if size else self.sides
        return f"{' x '.join(map(str, sides))} element{'s' if sides != (1,) else ''}"


def of_dtype(sides: tuple[int, ...], dtype: np.dtype[np.void]) -> Shape:
    """The shape of an array of NumPy's."""
    if dtype.subdtype:
        return of_dtype((*sides, *dtype.subdtype[1]), dtype.subdtype[0])
    fields = sorted((field[1], name, of_dtype((), field[0])) for name, field in (dtype.fields or {}).items())
    return Shape(sides, max(dtype.itemsize, 1), tuple(fields))


@dataclass(frozen=True)
class Shapes:
    """The shapes of `__shared__` variables by offset, of dynamic ones by name, of others by address, with names."""

    shared: dict[int, Shape] = field(default_factory=dict)
    dynamic: dict[str, Shape] = field(default_factory=dict)
    variables: dict[int, tuple[str, Shape]] = field(default_factory=dict)


def shapes_of(content: bytes) -> Shapes:
    """The shapes of a library's variables."""
    found = Shapes()
    for unit in ELFFile(BytesIO(content)).get_dwarf_info(relocate_dwarf_sections=False).iter_CUs():
        parse = DWARFExprParser(unit.structs).parse_expr
        for die in unit.iter_DIEs():
            if die.tag != "DW_TAG_variable" or not {"DW_AT_type", "DW_AT_specification"} & die.attributes.keys():
                continue
            location = die.attributes.get("DW_AT_location")
            steps = parse(location.value) if location is not None and location.form == "DW_FORM_exprloc" else []
            if len(steps) == 2 and steps[1].op_name in ("DW_OP_form_tls_address", "DW_OP_GNU_push_tls_address"):
                found.shared[steps[0].args[0]] = _shape(die)
            elif len(steps) == 1 and steps[0].op_name == "DW_OP_addr":
                found.variables[steps[0].args[0]] = _name(die), _shape(die)
            elif "DW_AT_declaration" in die.attributes and (shape := _shape(die)).sides[:1] == (0,):
                found.dynamic[_name(die)] = shape
    return found


def _name(die: DIE) -> str:
    """The name of a variable, which may stand where it is declared."""
    while "DW_AT_name" not in die.attributes and "DW_AT_specification" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_specification")
    return die.attributes["DW_AT_name"].value.decode() if "DW_AT_name" in die.attributes else "a variable"


def _shape(die: DIE) -> Shape:
    if "DW_AT_type" not in die.attributes:
        is_declared = "DW_AT_specification" in die.attributes
        return _shape(die.get_DIE_from_attribute("DW_AT_specification")) if is_declared else Shape((), 1)
    kind = die.get_DIE_from_attribute("DW_AT_type")
    if kind.tag == "DW_TAG_array_type":
        element = _shape(kind)
        bounds = (one.attributes.get("DW_AT_upper_bound") for one in kind.iter_children())
        sides = tuple(bound.value + 1 if bound and isinstance(bound.value, int) else 0 for bound in bounds)
        return Shape((*sides, *element.sides), element.itemsize, element.members)
    if "DW_AT_byte_size" not in kind.attributes:  # another name, or const or volatile
        return _shape(kind)
    members = tuple(_members(kind)) if kind.tag in ("DW_TAG_structure_type", "DW_TAG_class_type") else ()
    return Shape((), kind.attributes["DW_AT_byte_size"].value or 1, members)


def _members(kind: DIE) -> Iterator[tuple[int, str, Shape]]:
    for child in kind.iter_children():
        place, name = (child.attributes.get(f"DW_AT_{of}") for of in ("data_member_location", "name"))
        if child.tag == "DW_TAG_member" and place and name:
            yield place.value, name.value.decode(), _shape(child)
