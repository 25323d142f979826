"""What the code of an untrusted kernel may have that the emulator loads into a process: device functions alone.

It is checked in the object file, past all that a source can hide in macros and attributes: what is called, what runs
when it is loaded, and that what accesses memory calls the hooks which watch that.
"""

from __future__ import annotations

import re
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from cuda_emulator.errors import Refused
from cuda_emulator.refusals import lacking

# What a loader runs, or reads as more than code and data: constructors, destructors, programs for the linker's plugins.
_ACTIVE = re.compile(r"\.(?:preinit_array|init_array|fini_array|ctors|dtors|init|fini|gnu\.lto\w*|interp)\b")
# The one constructor that each unit has, which g++ makes for its hooks.
_OF_HOOKS = (".init_array.00099", 8)
_HOOK = re.compile(r"_sub_I_00099_\d+")
_MATHS = (
    "abs|acos|acosh|asin|asinh|atan|atan2|atanh|cbrt|ceil|copysign|cos|cosh|erf|erfc|exp|exp10|exp2|expm1|fabs|fdim|"
    "floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|j0|j1|jn|ldexp|lgamma|llrint|llround|log|log10|log1p|log2|logb|lrint|"
    "lround|modf|nan|nearbyint|nextafter|pow|remainder|remquo|rint|round|scalbln|scalbn|sin|sincos|sinh|sqrt|tan|tanh|"
    "tgamma|trunc|y0|y1|yn"
)
_KNOWN = re.compile(
    rf"(?:{_MATHS})[fl]?|_ZN?K?8emulator\w+|__tsan_\w+|__ubsan_\w+|__tls_get_addr|_GLOBAL_OFFSET_TABLE_|mem(?:cpy|move|set|cmp)"
    r"|malloc|free|_Zn[wa]m|_Zd[la]Pvm?"  # of the kernel's heap
    r"|_ZTVN10__cxxabiv1\d+__\w+_type_infoE|__cxa_pure_virtual"  # of classes with virtual functions
    r"|__stack_chk_fail|str(?:cmp|len|str)|v?snprintf|fe[gs]etround|printf|puts|putchar|__assert_fail|__[a-z]+[sdtx]i\d|__(?:trunc|extend)\w+|__(?:mul|div)[sdtx]c3"
)
# A candidate has no names of this namespace.
_OF_EMULATOR = re.compile(r"_ZZ?N?K?8emulator")
# Functions of the host among these, which the emulator's call.
_OF_HOST = re.compile(r"\bR_\w+\t(str(?:cmp|len|str)|v?snprintf|fe[gs]etround)\b")
# An instruction that accesses memory which isn't its function's own: by a register that is not the stack's, or, on
# x86-64, in a segment, as of shared arrays.
_ACCESS = re.compile(
    r"^ +[0-9a-f]+:\t(?!lea|nop|data16|cs|prfm|prefetch)\w+ +"
    r"(?:[^#\n]*(?:\((?!%rsp|%rip)%|%fs:(?!0x28\b))|[^\n]*\[(?!sp\b|x8\b)[xw]\d).*$",
    re.MULTILINE,
)
_PLACE = re.compile(r"^(\S.*):\d+(?: \(discriminator \d+\))?$|^\w+\(\):$", re.MULTILINE)
# A structure that a function returns in its caller's memory: x86-64 says where by the first argument, and returns that.
_RETURNS_RESULT, _OF_RESULT = "\tmov    %rdi,%rax\n", re.compile(r",(?:-?0x[0-9a-f]+)?\(%r(?:di|ax)\)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ <", re.MULTILINE)


def _check_hooks(elf: ELFFile, relocations: RelocationSection) -> None:
    """Raise Refused unless what is run when the file is loaded is g++'s own function."""
    table = elf.get_section(relocations["sh_link"])
    assert isinstance(table, SymbolTableSection)
    for relocation in relocations.iter_relocations():
        symbol = table.get_symbol(relocation["r_info_sym"])  # a section's, where the function is the unit's own
        place = symbol["st_shndx"], symbol["st_value"] + relocation["r_addend"]
        names = [one.name for one in table.iter_symbols() if (one["st_shndx"], one["st_value"]) == place]
        if not any(map(_HOOK.fullmatch, names)):
            raise Refused(f"code that runs when it is loaded: {' '.join(names)}")


def check_watched(listing: str, own: str) -> None:
    """Raise Refused for a function that accesses memory unseen, or that calls a function of the host.

    listing  what objdump prints of an object file's instructions, with their relocations and lines
    own      the folder of the emulator's headers, as the lines name it: its functions are not watched
    """
    for function in _FUNCTION.split(listing)[1:]:
        name, _, code = function.partition(">:\n")
        if _OF_EMULATOR.match(name) or code.partition("\n")[2].startswith(own):
            continue
        for call in _OF_HOST.finditer(code):
            if not ["", *_PLACE.findall(code, 0, call.start())][-1].startswith(own):
                raise Refused(f"a call of {call[1]}, which is no function of a GPU")
        accesses = [] if "\t__tsan_" in code else [" ".join(line.split()[1:]) for line in _ACCESS.findall(code)]
        if _RETURNS_RESULT in code:
            accesses = [one for one in accesses if not _OF_RESULT.search(one)]
        if accesses:
            raise lacking(f"whether accesses are right is not checked in {name}, which calls no hook: {accesses[0]}")


def check_object(compiled: Path) -> None:
    """Raise Refused for what isn't a device function: what a loader would run, or a call of another function."""
    with compiled.open("rb") as file:
        elf = ELFFile(file)
        of_hooks = 0
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection) and section.name == f".rela{_OF_HOOKS[0]}":
                _check_hooks(elf, section)
            is_of_hooks = (section.name, section["sh_size"]) == _OF_HOOKS and not of_hooks
            of_hooks += is_of_hooks
            if _ACTIVE.match(section.name) and not is_of_hooks:
                raise Refused(
                    f"code that runs when it is loaded ({section.name}): a candidate has no constructors, and no "
                    "variables that need one"
                )
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            kind = symbol["st_info"]["type"]
            if kind in ("STT_GNU_IFUNC", "STT_LOOS"):
                raise Refused(f"code that runs when it is loaded: {symbol.name} is chosen by a function")
            is_elsewhere = symbol["st_shndx"] == "SHN_UNDEF" and kind != "STT_TLS"  # which are shared arrays
            if is_elsewhere and symbol.name and not _KNOWN.fullmatch(symbol.name):
                raise Refused(f"a call of {symbol.name}, which is no function of a GPU")
