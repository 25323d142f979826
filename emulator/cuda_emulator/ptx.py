"""Translate a kernel's inline assembly for GPUs (PTX) to C++ that calls the emulator's functions of cpp/ptx.hpp."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuda_emulator.refusals import lacking

_TOKEN = re.compile(
    r"""(?P<marker>^\#\s*(?P<line>\d+)\s+"(?P<file>(?:[^"\\]|\\.)*)"[^\n]*$)"""
    r"""|(?P<raw>R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)")"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<asm>\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|inline|__inline__)\s*)*\()"""
    r"""|(?P<newline>\n)""",
    re.MULTILINE | re.DOTALL,
)
# A system's file, whose assembly is the host's, and no file of a repository in /usr/src/app.
_SYSTEM = re.compile(r"<|/usr/(?:include/|lib|local/(?:lib|include/c\+\+))")
_OPERAND = re.compile(r'\s*(?:\[\s*(?P<name>\w+)\s*\]\s*)?"(?P<constraint>[^"]*)"\s*\((?P<value>.*)\)\s*$', re.DOTALL)
_TYPE = re.compile(r"^(?:[usb](?:8|16|32|64)|f(?:32|64)|pred)$")
_CACHES = r"nc|ca|cg|cs|lu|cv|wb|wt|weak|volatile|relaxed|acquire|release|acq_rel|cta|cluster|gpu|sys|L1::\w+|L2::\w+"
_SPECIAL = {
    **{f"%{word}.{side}": f"{variable}.{side}" for word, variable in
       (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")) for side in "xyz"},
    "%laneid": "::emulator::ptx::lane()",
    "%warpid": "::emulator::ptx::warp()",
    "%nwarpid": "32",
    "%smid": "0",
    "%nsmid": "1",
    "%clock": "clock64()",
    "%clock64": "clock64()",
    "%clock_hi": "0",
    "%globaltimer": "clock64()",
    "%globaltimer_lo": "clock64()",
    "%lanemask_eq": "(1u << ::emulator::ptx::lane())",
    "%lanemask_lt": "((1u << ::emulator::ptx::lane()) - 1)",
    "%lanemask_le": "((2u << ::emulator::ptx::lane()) - 1)",
    "%lanemask_gt": "~((2u << ::emulator::ptx::lane()) - 1)",
    "%lanemask_ge": "~((1u << ::emulator::ptx::lane()) - 1)",
    "WARP_SZ": "32",
}  # fmt: skip
_ARITHMETIC = {
    "add": "a + b", "sub": "a - b", "div": "a / b", "rem": "a % b", "and": "a & b", "or": "a | b", "xor": "a ^ b",
    "min": "b < a ? b : a", "max": "a < b ? b : a", "not": "~a", "neg": "0 - a", "abs": "a < 0 ? 0 - a : a",
    "mul": "a * b", "mad": "a * b + c", "fma": "::emulator::ptx::fused(a, b, c)", "cnot": "a == 0",
    "sqrt": "sqrt(a)", "rsqrt": "1 / sqrt(a)", "rcp": "1 / a", "ex2": "exp2(a)", "lg2": "log2(a)", "sin": "sin(a)",
    "cos": "cos(a)", "tanh": "tanh(a)", "popc": "__builtin_popcountll(a)", "brev": "::emulator::ptx::reversed(a)",
    "clz": "::emulator::ptx::leading_zeros(a)", "shl": "::emulator::ptx::shifted_left(a, B)",
    "shr": "::emulator::ptx::shifted_right(a, B)", "sad": "c + (a < b ? b - a : a - b)",
}  # fmt: skip
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=",
                "hi": ">", "hs": ">="}  # fmt: skip


@dataclass(frozen=True)
class _Instruction:
    words: list[str]
    operands: list[str]

    @property
    def name(self) -> str:
        return ".".join(self.words)

    @property
    def type(self) -> str:
        """The last word that is a type; b32 where there is none."""
        return next((word for word in reversed(self.words) if _TYPE.match(word)), "b32")


# Gives the C++ of an operand that is a value.
_Value = Callable[[str], str]


class _LackingError(Exception):
    """An instruction, or a form of one, that is not supplied."""


def translated(text: str, headers: Path) -> str:
    """A preprocessed unit whose kernels' PTX is C++.

    headers  the emulator's, whose own assembly stays

    Raises Refused, which names the instruction, for one that the emulator does not supply.
    """
    parts, done, file, line, number = [], 0, "", 1, 0
    for token in _TOKEN.finditer(text):
        if token["marker"]:
            file, line = token["file"], int(token["line"]) - 1  # the newline behind it is counted
        elif token["newline"]:
            line += 1
        elif token["raw"] or token["string"]:
            line += token[0].count("\n")
        elif not (Path(file).is_relative_to(headers) or _SYSTEM.match(file)):
            end = _closing(text, token.end() - 1)
            number += 1
            try:
                made = _statement(text[token.end() : end], number)
            except _LackingError as error:
                raise lacking(
                    f"{file}:{line}: the PTX instruction {error} is something that the emulator does not supply"
                ) from None
            lines = text.count("\n", token.start(), end)
            parts += [text[done : token.start()], made, "\n" * lines]
            done = end + 1
    return "".join([*parts, text[done:]])


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that opens at `start` is closed."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    raise _LackingError("without an end")


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that are in no string and no brackets."""
    parts, depth, last = [], 0, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[()\[\]{}]|' + re.escape(separator), text):
        if match[0] == separator and depth == 0:
            parts.append(text[last : match.start()])
            last = match.end()
        elif match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
    return [*parts, text[last:]]


def _statement(text: str, number: int) -> str:
    """The C++ of an assembly statement, whose parts are in `text`; its labels and variables end in `number`."""
    head, *lists = _split(text, ":")
    template = "".join(ast.literal_eval(literal) for literal in re.findall(r'"(?:[^"\\]|\\.)*"', head))
    operands = []
    for place, listed in enumerate(lists[:2]):
        for operand in filter(str.strip, _split(listed, ",")):
            if not (match := _OPERAND.match(re.sub(r'"\s+"', "", operand))):
                raise _LackingError(f"with the operand {operand.strip()}")
            operands.append((match, place == 0))
    names = {match["name"]: f"a{place}_{number}" for place, (match, _) in enumerate(operands) if match["name"]}
    names |= {str(place): f"a{place}_{number}" for place in range(len(operands))}
    before = "".join(
        f"::emulator::ptx::Bits a{place}_{number} = "
        + (f"::emulator::ptx::bits_of({match['value']}); " if not is_output or "+" in match["constraint"] else "0; ")
        for place, (match, is_output) in enumerate(operands)
    )
    after = "".join(
        f"{match['value']} = ::emulator::ptx::value_of<::std::decay_t<decltype({match['value']})>>(a{place}_{number}); "
        for place, (match, is_output) in enumerate(operands)
        if is_output
    )
    body = " ".join((before + _body(template, names, number) + after).split())
    return f"do {{ {body} }} while (0)"


def _body(template: str, names: dict[str, str], number: int) -> str:
    ptx = re.sub(r"//[^\n]*|/\*.*?\*/", " ", template, flags=re.DOTALL)
    ptx = re.sub(r"%(\d+)|%\[(\w+)\]", lambda match: names[match[1] or match[2]], ptx).replace("%%", "%")
    registers: dict[str, str] = {}
    declared, made = "", ""
    for match in re.finditer(
        r"\s*(?:(?P<brace>[{}])(?=\s)|(?P<label>[$\w]+)\s*:(?!:)|(?P<statement>[^;]*);)", ptx + "\n"
    ):
        if match["label"]:
            made += f"{_name(match['label'], number)}:; "
        elif statement := (match["statement"] or "").strip():
            while statement[:1] in "{}":
                statement = statement[1:].strip()
            if found := re.match(r"\.reg\s+\.\w+\s+(.*)", statement):
                for name in _registers(found[1]):
                    registers[name] = f"{_name(name, number)}"
                    declared += f"::emulator::ptx::Bits {registers[name]} = 0; "
            elif statement:
                made += _instruction(statement, registers, number)
    return declared + made


def _name(name: str, number: int) -> str:
    return re.sub(r"\W", "_", name) + f"_r{number}"


def _registers(text: str) -> list[str]:
    """The names of a declaration, such as a, b<3>."""
    names: list[str] = []
    for name in re.split(r"\s*,\s*", text.strip()):
        many = re.fullmatch(r"([%$\w]+)<(\d+)>", name)
        names += [f"{many[1]}{index}" for index in range(int(many[2]))] if many else [name]
    return names


def _instruction(text: str, registers: dict[str, str], number: int) -> str:
    match = re.fullmatch(r"(?:@(?P<guard>!?[%$\w]+)\s+)?(?P<name>[\w.:]+)\s*(?P<rest>.*)", text, re.DOTALL)
    if not match:
        raise _LackingError(text)

    def value(operand: str) -> str:
        operand = operand.strip()
        if operand in registers:
            return registers[operand]
        if operand in _SPECIAL:
            return f"::emulator::ptx::bits_of({_SPECIAL[operand]})"
        if real := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", operand):
            return f"0x{real[1] or real[2]}ull"
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?", operand):
            return f"::emulator::ptx::Bits({operand.rstrip('U')}ll)"
        if re.fullmatch(r"-?\d+\.\d*", operand):
            return f"::emulator::ptx::bits_of({operand}f)"
        if re.fullmatch(r"a\d+_\d+", operand):
            return operand
        if operand.startswith("!"):
            return f"::emulator::ptx::Bits(!{value(operand[1:])})"
        raise _LackingError(f"{match['name']} with {operand}")

    operands = [part.strip() for part in _split(match["rest"], ",")] if match["rest"].strip() else []
    guard = (
        f"if ({value(match['guard'].lstrip('!'))} {'==' if match['guard'][0] == '!' else '!='} 0) "
        if match["guard"]
        else ""
    )
    words = match["name"].split(".")
    if words[0] == "bra":
        return f"{guard}goto {_name(operands[0], number)}; "
    return guard + "{ " + _made(_Instruction(words, operands), value) + "; } "


def _made(one: _Instruction, value: _Value) -> str:
    """The C++ of an instruction, by the first maker that knows it."""
    for maker in (_moves, _loads, _atomic_functions, _copies, _matrices, _of_warps, _control, _bits, _numbers):
        if made := maker(one, value):
            return made
    raise _LackingError(one.name)


def _moves(one: _Instruction, value: _Value) -> str:
    head, operands = one.words[0], one.operands
    if head == "mov":
        target, source = operands
        if target.startswith("{"):
            into = [value(part) for part in _split(target[1:-1], ",")]
            width = int(one.type[1:]) // len(into)
            return "; ".join(
                f"{name} = {value(source)} >> {width * place} & ::emulator::ptx::mask({width})"
                for place, name in enumerate(into)
            )
        if source.startswith("{"):
            parts = [value(part) for part in _split(source[1:-1], ",")]
            width = int(one.type[1:]) // len(parts)
            joined = (
                f"({part} & ::emulator::ptx::mask({width})) << {width * place}" for place, part in enumerate(parts)
            )
            return f"{value(target)} = {' | '.join(joined)}"
        return f"{value(target)} = {value(source)}"
    if head == "cvta":
        function = "bits" if "shared" not in one.words else "to_shared" if "to" in one.words else "from_shared"
        return f"{value(operands[0])} = ::emulator::ptx::{function}({value(operands[1])})"
    if head == "selp":
        return f"{value(operands[0])} = {value(operands[3])} ? {value(operands[1])} : {value(operands[2])}"
    if head == "cvt":
        kinds = [word for word in one.words if _TYPE.match(word)]
        if len(kinds) != 2:
            raise _LackingError(one.name)
        rounding = next((word for word in one.words if re.fullmatch(r"r[nzmp]i?", word)), "rn")
        return (
            f"{value(operands[0])} = ::emulator::ptx::converted<{_cpp(kinds[0])}, {_cpp(kinds[1])}>"
            f'({value(operands[1])}, "{rounding}")'
        )
    return ""


def _cpp(kind: str) -> str:
    if kind == "pred":
        return "bool"
    if kind[0] == "f":
        return {"f32": "float", "f64": "double"}[kind]
    return ("int" if kind[0] == "s" else "uint") + f"{kind[1:]}_t"


def _address(operand: str, one: _Instruction, value: _Value) -> str:
    match = re.fullmatch(r"\[\s*([^+\]]+?)\s*(?:\+\s*(-?\w+)\s*)?\]", operand)
    if not match:
        raise _LackingError(f"{one.name} with {operand}")
    base = f"{value(match[1])} + {match[2] or 0}"
    is_shared = any(word.startswith("shared") for word in one.words)
    return f"::emulator::ptx::pointer<{'true' if is_shared else 'false'}>({base})"


def _loads(one: _Instruction, value: _Value) -> str:
    head, words, operands = one.words[0], one.words, one.operands
    if head not in ("ld", "ldu", "st"):
        return ""
    known = rf"ld|ldu|st|v[24]|global|shared(?:::cta)?|const|local|param|{_CACHES}|{one.type}"
    if not all(re.fullmatch(known, word) for word in words):
        raise _LackingError(one.name)
    is_store, fence = head == "st", _fence(words)
    place, other = (operands[0], operands[1]) if is_store else (operands[1], operands[0])
    listed = [value(part) for part in (_split(other[1:-1], ",") if other.startswith("{") else [other])]
    contents = f" = {{{', '.join(listed)}}}" if is_store else ""
    is_atomic = any(word in ("relaxed", "acquire", "release") for word in words)
    given = f"{_cpp(one.type)}, {len(listed)}, {str(is_atomic).lower()}, {str('cta' in words).lower()}"
    made = f"::emulator::ptx::Bits all[{len(listed)}]{contents}; "
    made += f"::emulator::ptx::{'store' if is_store else 'load'}<{given}>({_address(place, one, value)}, all)"
    if is_store:
        return f"{fence}; {made}" if "release" in words else made
    made += "".join(f"; {name} = all[{place}]" for place, name in enumerate(listed))
    return f"{made}; {fence}" if "acquire" in words else made


def _fence(words: list[str]) -> str:
    return f"::emulator::counting::observe_fence({'false' if 'cta' in words else 'true'})"


def _atomic_functions(one: _Instruction, value: _Value) -> str:
    if one.words[0] not in ("atom", "red"):
        return ""
    function, kind, fence = _one_of(one, *_ATOMICS), _cpp(one.type), _fence(one.words)
    if function in ("and", "or", "xor", "exch", "cas") and kind not in ("uint32_t", "uint64_t", "int32_t"):
        raise _LackingError(one.name)
    rest = one.operands if one.words[0] == "red" else one.operands[1:]
    given = ", ".join(_typed(part, one, value) for part in rest[1:])
    made = f"{_ATOMICS[function]}(reinterpret_cast<{_CUDA[kind]} *>({_address(rest[0], one, value)}), {given})"
    made = made if one.words[0] == "red" else f"{value(one.operands[0])} = ::emulator::ptx::bits_of({made})"
    before = f"{fence}; " if {"release", "acq_rel"} & {*one.words} else ""
    return before + made + (f"; {fence}" if {"acquire", "acq_rel"} & {*one.words} else "")


def _copies(one: _Instruction, value: _Value) -> str:
    words, operands = one.words, one.operands
    if words[:2] != ["cp", "async"] or "bulk" in words or "mbarrier" in words:
        return ""
    if "commit_group" in words:
        return "__pipeline_commit()"
    if "wait_all" in words:
        return "__pipeline_commit(); __pipeline_wait_prior(0)"
    if "wait_group" in words:
        return f"__pipeline_wait_prior({value(operands[0])})"
    target = f"::emulator::ptx::pointer<true>({value(operands[0][1:-1])})"
    source = f"::emulator::ptx::pointer<false>({value(operands[1][1:-1])})"
    zeros = f"{value(operands[2])} - {value(operands[3])}" if len(operands) > 3 else "0"
    return f"__pipeline_memcpy_async({target}, {source}, {value(operands[2])}, {zeros})"


# What mma.sync multiplies and adds, and the depths that it has of them.
_MULTIPLIED = {"f16": "::emulator::SmallFloat<5>", "bf16": "::emulator::SmallFloat<8>", "tf32": "::emulator::Tf32",
               "s8": "signed char", "u8": "unsigned char"}  # fmt: skip
_ADDED = {"f16": "::emulator::SmallFloat<5>", "f32": "float", "s32": "int"}
_DEPTHS = {"f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8), "s8": (16, 32), "u8": (16, 32)}


def _matrices(one: _Instruction, value: _Value) -> str:
    head, words = one.words[0], one.words
    if head not in ("mma", "ldmatrix"):
        return ""
    listed = [[value(part) for part in _split(each.strip("{}"), ",")] for each in one.operands if each[0] != "["]
    into = f"::emulator::ptx::Bits into[{len(listed[0])}]; "
    after = "".join(f"; {name} = into[{place}]" for place, name in enumerate(listed[0]))
    if head == "ldmatrix":
        if "m8n8" not in words or "b16" not in words:
            raise _LackingError(one.name)
        call = f"load_matrices({_address(one.operands[1], one, value)}, {str('trans' in words).lower()}, into)"
        return f"{into}::emulator::ptx::{call}{after}"
    shape = re.fullmatch(r"mma\.sync\.aligned\.m16n8k(\d+)\.row\.col\.(\w+)\.(\w+)\.(\w+)\.(\w+)", one.name)
    if not shape or not all(kind in _MULTIPLIED for kind in shape.groups()[2:4]):
        raise _LackingError(one.name)
    depth, result, a, b, c = shape.groups()
    if int(depth) not in _DEPTHS[a] or result not in _ADDED or c not in _ADDED:
        raise _LackingError(one.name)
    given = "".join(
        f"const ::emulator::ptx::Bits {name}[] = {{{', '.join(parts)}}}; "
        for name, parts in zip(("of_a", "of_b", "of_c"), listed[1:], strict=True)
    )
    types = f"{_MULTIPLIED[a]}, {_MULTIPLIED[b]}, {_ADDED[c]}, {_ADDED[result]}, {depth}"
    return f"{given}{into}::emulator::ptx::multiply<{types}>(of_a, of_b, of_c, into){after}"


def _one_of(one: _Instruction, *words: str) -> str:
    """The word of an instruction that is among these."""
    if not (found := [word for word in one.words[1:] if word in words]):
        raise _LackingError(one.name)
    return found[0]


_ATOMICS = {
    "add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd", "or": "atomicOr",
    "xor": "atomicXor", "exch": "atomicExch", "cas": "atomicCAS", "inc": "atomicInc", "dec": "atomicDec",
}  # fmt: skip
# The types by which CUDA's functions are overloaded.
_CUDA = {
    "int32_t": "int", "uint32_t": "unsigned", "int64_t": "long long", "uint64_t": "unsigned long long",
    "int16_t": "short", "uint16_t": "unsigned short", "int8_t": "signed char", "uint8_t": "unsigned char",
    "float": "float", "double": "double", "bool": "bool",
}  # fmt: skip


def _of_warps(one: _Instruction, value: _Value) -> str:
    head, words, operands = one.words[0], one.words, one.operands
    if head == "shfl" and "sync" in words:
        target, _, predicate = operands[0].partition("|")
        how = _one_of(one, "up", "down", "bfly", "idx")
        given = ", ".join(value(part) for part in operands[1:])
        made = f'const auto got = ::emulator::ptx::shuffle("{how}", {given}); {value(target)} = got.value'
        return f"{made}; {value(predicate)} = got.is_inside" if predicate else made
    if head == "vote" and "sync" in words:
        how = _one_of(one, "any", "all", "ballot")
        return f"{value(operands[0])} = __{how}_sync({value(operands[2])}, {value(operands[1])} != 0)"
    if head == "activemask":
        return f"{value(operands[0])} = __activemask()"
    if head == "match" and "any" in words:
        return f"{value(operands[0])} = __match_any_sync({value(operands[2])}, {_typed(operands[1], one, value)})"
    if head == "redux":
        how = _one_of(one, "add", "min", "max", "and", "or", "xor")
        call = f"__reduce_{how}_sync({value(operands[2])}, {_typed(operands[1], one, value)})"
        return f"{value(operands[0])} = ::emulator::ptx::bits_of({call})"
    return ""


def _typed(operand: str, one: _Instruction, value: _Value) -> str:
    return f"::emulator::ptx::value_of<{_CUDA[_cpp(one.type)]}>({value(operand)})"


def _control(one: _Instruction, value: _Value) -> str:
    head, words, operands = one.words[0], one.words, one.operands
    if head in ("bar", "barrier"):
        if "warp" in words:
            return f"__syncwarp({value(operands[0])})"
        if "sync" in words and len(operands) == 1:
            return f"::emulator::ptx::check_barrier({value(operands[0])}); __syncthreads()"
    if head == "membar":
        return f"__threadfence{'_block' if 'cta' in words else ''}()"
    if head == "fence":
        spaces = [word.partition("::")[0] for word in words if re.match("global|shared", word)] or ["global", "shared"]
        if "mbarrier_init" in words or ("proxy" in words and "async" in words):
            of = ["shared"] if "mbarrier_init" in words else spaces
            given = ", ".join(str(space in of).lower() for space in ("shared", "global"))
            return f"::emulator::counting::observe_proxy_fence({given})"
        if "proxy" in words:
            return ""
        return f"__threadfence{'_block' if 'cta' in words else ''}()"
    if head == "griddepcontrol":
        return "cudaGridDependencySynchronize()" if "wait" in words else "cudaTriggerProgrammaticLaunchCompletion()"
    if head == "nanosleep":
        return f"__nanosleep({value(operands[0])})"
    if head == "trap":
        return "__trap()"
    # Hints, which change no result.
    return "(void)0" if head in ("prefetch", "prefetchu", "setmaxnreg", "discard", "applypriority", "brkpt") else ""


def _bits(one: _Instruction, value: _Value) -> str:
    head, operands = one.words[0], one.operands
    given = ", ".join(f"uint32_t({value(part)})" for part in operands[1:])
    if head in ("lop3", "prmt") and len(one.words) == 2:
        return f"{value(operands[0])} = ::emulator::ptx::{head}({given})"
    if head == "bfe":
        return f"{value(operands[0])} = ::emulator::ptx::field<{_cpp(one.type)}>({', '.join(map(value, operands[1:]))})"
    if head == "bfi":
        return f"{value(operands[0])} = ::emulator::ptx::inserted({', '.join(map(value, operands[1:]))})"
    if head == "shf":
        how = f"{str('l' in one.words).lower()}, {str('clamp' in one.words).lower()}"
        return f"{value(operands[0])} = ::emulator::ptx::funnel<{how}>({given})"
    if head == "setp":
        comparison = _COMPARISONS.get(one.words[1])
        if not comparison or len(operands) != 3:
            raise _LackingError(one.name)
        left, right = (_typed(part, one, value) for part in operands[1:])
        return f"{value(operands[0].partition('|')[0])} = {left} {comparison} {right}"
    return ""


def _numbers(one: _Instruction, value: _Value) -> str:
    head, words = one.words[0], one.words
    formula = _ARITHMETIC.get(head)
    known = rf"{head}|lo|hi|wide|rn|rz|rm|rp|approx|full|ftz|sat|{one.type}"
    if not formula or not all(re.fullmatch(known, word) for word in words) or "sat" in words:
        return ""
    kind = _cpp(one.type)
    if kind in ("float", "double") and any(word in ("rz", "rm", "rp") for word in words):
        raise _LackingError(one.name)
    if "hi" in words or "wide" in words:
        wide = {"int32_t": "int64_t", "uint32_t": "uint64_t", "int16_t": "int32_t", "uint16_t": "uint32_t",
                "int64_t": "__int128", "uint64_t": "unsigned __int128"}[kind]  # fmt: skip
        product = f"{wide}(a) * b"
        if "hi" in words:
            product = f"({product} >> {one.type[1:]})"
        formula = f"{product} + c" if head == "mad" else product
        result = kind if "hi" in words else wide
    else:
        result, wide = kind, kind
    operands = [value(part) for part in one.operands]
    given = "".join(
        f"[[maybe_unused]] const {wide if letter == 'c' and 'wide' in words else kind} {letter} = "
        f"::emulator::ptx::value_of<{wide if letter == 'c' and 'wide' in words else kind}>({operand}); "
        for letter, operand in zip("abc", operands[1:], strict=False)
    )
    given += f"[[maybe_unused]] const uint32_t B = uint32_t({operands[2]}); " if head in ("shl", "shr") else ""
    return f"{given}{operands[0]} = ::emulator::ptx::bits_of({result}({formula}))"
