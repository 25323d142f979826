"""A GPU through PyCUDA."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import struct
import sys
import tempfile
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kernelsweep.compile.binaries import global_variables, unit_files
from kernelsweep.device.gpus import INSTALL_PYCUDA, gpus_of
from kernelsweep.device.kinds import GPU
from kernelsweep.device.monitor import Monitor
from kernelsweep.device.platform import ELEMENTS, MOST_LAUNCHES, TEXELS, Address, Conditions, Given, Memory, Platform
from kernelsweep.errors import ContextLost, LaunchError, UserError
from kernelsweep.study.kernels.plan import Launch

os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # NVML's order, which device/gpus.py counts by.

try:
    import pycuda.driver as cuda
except ModuleNotFoundError as error:
    raise UserError(f"PyCUDA, which is needed to use a GPU, is not installed. Type: {INSTALL_PYCUDA}") from error

# A fill of this many times the L2's size evicts all of its content, whatever its replacement policy.
FLUSH_FACTOR = 2

# The default number of a context's hardware queues (CUDA_DEVICE_MAX_CONNECTIONS).
STREAMS = 8

# A kernel that uses more dynamic shared memory must have an attribute set.
_COMMON_SHARED_BYTES = 48 * 1024
_MAX_DYNAMIC_SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

# Attributes of a function, and of a launch, by their numbers in cuda.h.
_NON_PORTABLE_CLUSTER = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
_COOPERATIVE, _CLUSTER, _PROGRAMMATIC = 2, 4, 6  # CU_LAUNCH_ATTRIBUTE_...; the last: PROGRAMMATIC_STREAM_SERIALIZATION
_PORTABLE_CLUSTER = 8  # blocks that every GPU with clusters has

# CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_PITCH2D, CU_TR_ADDRESS_MODE_CLAMP, CU_TRSF_READ_AS_INTEGER
_LINEAR, _PITCHED, _CLAMP, _READ_AS_INTEGER = 2, 3, 1, 1

_SWIZZLES = (0, 32, 64, 128)  # bytes, by CUtensorMapSwizzle's number

_PERSISTING_L2_SIZE = 0x06  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE

_WORD = 4  # bytes, of which compare() compares several

# The kernels behind equal() and error_share(): their threads a block, their blocks a multiprocessor, as many as can be
# resident, and the bytes that they leave.
_COMPARE_BLOCK = 256
_COMPARE_BLOCKS = 8
_VERDICT_BYTES = 16
_FLOATS = ("float16", "bfloat16", "float32", "float64")  # the kinds of within.ptx

_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: calls that capture nothing stay allowed

_WAIT_UNTIL_AT_LEAST = 0x0  # CU_STREAM_WAIT_VALUE_GEQ

_MOST_COMPARED = 2**24  # bytes of variables, which are fetched after a point's first run

# What CUDA answers to a launch that it refuses, or to an unknown name. After any other error, such as an illegal
# address or a GPU that fell off the bus, every call in the context may fail, and only a new process tells.
_REFUSALS = (
    "invalid argument",
    "invalid resource handle",
    "out of memory",
    "too many",
    "not supported",
    "cluster",
    "not found",
)


def describe_device(platform: str) -> dict[str, Any]:
    """The properties of a platform's GPU that results are read against: sizes in bytes, clocks in MHz, GB/s in 10^9.

    peak_bandwidth_gbs is the memory's theoretical peak: bus width times its clock, two transfers a cycle. The GPU's
    UUID is left out: with it, all would be measured again whenever another GPU of the model comes first.

    Starts CUDA. Raises UserError if no GPU of the platform is visible.
    """
    gpu = gpus_of(platform)[0]
    os.environ["CUDA_VISIBLE_DEVICES"] = gpu.uuid
    cuda.init()
    device = cuda.Device(0)
    attribute = cuda.device_attribute

    def get(name: str) -> int:
        return int(device.get_attribute(getattr(attribute, name)))

    memory_clock_khz, bus_bits = get("MEMORY_CLOCK_RATE"), get("GLOBAL_MEMORY_BUS_WIDTH")
    cuda_version = cuda.get_driver_version()
    return {
        "kind": GPU,
        "name": device.name(),
        "compute_capability": ".".join(str(part) for part in device.compute_capability()),
        "multiprocessors": get("MULTIPROCESSOR_COUNT"),
        "l2_bytes": get("L2_CACHE_SIZE"),
        "memory_bytes": device.total_memory(),
        "memory_clock_mhz": memory_clock_khz / 1000,
        "memory_bus_bits": bus_bits,
        "multiprocessor_clock_mhz": get("CLOCK_RATE") / 1000,
        "peak_bandwidth_gbs": 2 * memory_clock_khz * 1e3 * bus_bits / 8 / 1e9,
        "cuda_driver_version": f"{cuda_version // 1000}.{cuda_version % 1000 // 10}",
        **gpu.state,
        "provenance": f"measured on {device.name()}, driver {gpu.state['driver']}",
    }


class _LaunchConfig(ctypes.Structure):
    """CUlaunchConfig of cuda.h: the grid, the block, the dynamic shared bytes; a stream; attributes."""

    _fields_: ClassVar = [
        ("sizes", ctypes.c_uint * 7),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


class _LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute of cuda.h."""

    _fields_: ClassVar = [("number", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


@dataclass(frozen=True)
class _Variable:
    """A variable in global memory.

    initial  its first contents; empty where they are many
    kept     a copy of these in memory; None for zeros
    """

    address: int
    size: int
    initial: bytes
    kept: Any


class GpuPlatform(Platform):
    """The first visible GPU, with its own context and streams."""

    has_clock = True
    guard_bytes = (4096, 4096)
    describe = staticmethod(describe_device)

    def __init__(self) -> None:
        cuda.init()
        self._device = cuda.Device(0)
        self._context = self._open_context()
        # A kernel starts a little later on one stream than on another, so samples alternate between several.
        self._streams = itertools.cycle([cuda.Stream() for _ in range(STREAMS)])
        self._stream = next(self._streams)
        self._events: list[tuple[Any, Any]] = []
        self._variants: dict[str, dict[str, Any]] = {}
        # PyCUDA tells no module's and no function's handle, which occupancy and launches with attributes need.
        self._functions: dict[str, ctypes.c_void_p] = {}
        self._most_shared_bytes: dict[str, int] = {}
        self._modules: list[ctypes.c_void_p] = []
        self._textures: dict[tuple[Any, ...], int] = {}
        self._variables: list[list[_Variable]] = []
        self._of_host: set[int] = set()  # the addresses of variables that the host sets or reads
        self._libcuda = ctypes.CDLL("libcuda.so.1")
        # No kernel may keep lines in the L2 from one run to the next. GPUs without this limit have no such lines.
        self._libcuda.cuCtxSetLimit(_PERSISTING_L2_SIZE, ctypes.c_size_t(0))
        waits = self._libcuda.cuStreamWaitValue32_v2
        waits.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint]
        self._gate = cuda.pagelocked_zeros(1, np.uint32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
        self._gate_address = self._gate.ctypes.data  # NumPy takes 3 us to say so.
        l2_bytes = self._device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE)
        self._flush_words = max(FLUSH_FACTOR * l2_bytes, 2**22) // 4
        self._flush_memory = cuda.mem_alloc(4 * self._flush_words)
        self._found = cuda.mem_alloc(_VERDICT_BYTES)
        self._comparisons: dict[str, Any] = {}
        self.uuid = self._asked_uuid()
        self._monitor = Monitor(self.uuid)
        self._conditions = Conditions()

    def _open_context(self) -> Any:
        """A new context, current from now on. A library's platform has another."""
        return self._device.make_context()

    def allocate(self, size: int) -> Any:
        try:
            return cuda.mem_alloc(size)
        except cuda.MemoryError as error:
            free, total = cuda.mem_get_info()
            raise MemoryError(
                f"{size / 1e9:.2f} GB of device memory asked for, {free / 1e9:.2f} of {total / 1e9:.2f} GB free"
            ) from error

    def free(self, memory: Any) -> None:
        memory.free()

    def part(self, memory: Any, offset: int) -> Address:
        return Address(int(memory) + offset)

    def address(self, memory: Any) -> int:
        return int(memory)

    def texture(
        self, memory: Any, dtype: np.dtype[Any], sides: tuple[int, int], is_linear: bool, channels: int = 1
    ) -> int:
        told = (int(memory), dtype.name, sides, is_linear, channels)
        if told not in self._textures:
            (width, height), handle = sides, ctypes.c_uint64()
            row = width * channels * dtype.itemsize
            # CUDA_RESOURCE_DESC: linear memory has its bytes, and one of two dimensions width, height and pitch.
            kind, sizes = (_PITCHED, (width, height, row)) if height else (_LINEAR, (row, 0, 0))
            of_texel = TEXELS[dtype.name], channels
            resource = struct.pack("=IIQII3Q", kind, 0, int(memory), *of_texel, *sizes).ljust(144, b"\0")
            how = struct.pack("=5I", *[_CLAMP] * 3, is_linear, _READ_AS_INTEGER).ljust(104, b"\0")  # CUDA_TEXTURE_DESC
            self._asked("cuTexObjectCreate", ctypes.byref(handle), resource, how, None)
            self._textures[told] = handle.value
        return self._textures[told]

    def tensor_map(
        self, memory: Any, dtype: np.dtype[Any], sides: Sequence[int], box: Sequence[int], swizzle: int
    ) -> np.void:
        room, rank = ctypes.create_string_buffer(192), len(sides)
        at = -ctypes.addressof(room) % 64
        strides = [dtype.itemsize * prod(sides[: one + 1]) for one in range(rank - 1)]
        self._asked(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(ctypes.addressof(room) + at),
            ELEMENTS[dtype.name],
            rank,
            ctypes.c_void_p(int(memory)),
            (ctypes.c_uint64 * rank)(*sides),
            (ctypes.c_uint64 * rank)(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank),  # each element
            *(0, _SWIZZLES.index(swizzle), 0, 0),  # not interleaved, as asked, no promotion to the L2, zeros outside
        )
        return np.void(room.raw[at : at + 128])

    def upload(self, memory: Any, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        with self._busy():
            cuda.memcpy_htod(int(memory) + offset, array)

    def download(self, memory: Any, array: np.ndarray[Any, Any]) -> None:
        with self._busy():
            cuda.memcpy_dtoh(array, memory)

    def copy(self, target: Any, source: Any, size: int, offset: int = 0) -> None:
        cuda.memcpy_dtod_async(int(target) + offset, source, size, self._stream)

    def fill(self, memory: Any, size: int, word: int) -> None:
        cuda.memset_d32_async(memory, word, -(-size // 4), self._stream)

    def equal(self, first: Any, second: Any, size: int, offset: int = 0) -> bool:
        words, rest = divmod(size, _WORD)
        first = int(first) + offset
        if words and self._verdict("compare", "PPQP", words, first, int(second), words).any():
            return False
        return not rest or self._bytes(first + size - rest, rest) == self._bytes(int(second) + size - rest, rest)

    def error_share(
        self, found: Any, dtype: np.dtype[Any], count: int, right: tuple[Any, Any], counts: tuple[int, int]
    ) -> float | None:
        pointers = (int(found), *map(int, right))
        verdict = self._verdict("within", "PPPQQQIP", count, *pointers, *counts, count, _FLOATS.index(dtype.name))
        is_wrong, share = verdict.view(np.uint64)[0], verdict.view(np.float64)[1]
        return None if is_wrong else float(share)

    def _verdict(self, kernel: str, types: str, count: int, *arguments: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The 16 bytes, zeros at first, that a kernel of _COMPARISONS leaves after a look at `count` elements.

        types  of its arguments, as PyCUDA names them; the last is the address of these bytes
        """
        if kernel not in self._comparisons:
            module = cuda.module_from_file(str(Path(__file__).with_name(f"{kernel}.ptx")))
            self._comparisons[kernel] = module.get_function(kernel).prepare(types)
        blocks = self._device.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT) * _COMPARE_BLOCKS
        grid, block = (min(blocks, -(-count // _COMPARE_BLOCK)), 1), (_COMPARE_BLOCK, 1, 1)
        cuda.memset_d32_async(self._found, 0, _VERDICT_BYTES // _WORD, self._stream)
        self._comparisons[kernel].prepared_async_call(grid, block, self._stream, *arguments, self._found)
        self.synchronize()
        return np.frombuffer(self._bytes(int(self._found), _VERDICT_BYTES), np.uint8)

    def _bytes(self, address: int, size: int) -> bytes:
        found = np.empty(size, np.uint8)
        with self._busy():
            cuda.memcpy_dtoh(found, address)
        return found.tobytes()

    def flush_cache(self) -> None:
        cuda.memset_d32_async(self._flush_memory, 0, self._flush_words, self._stream)

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        before = len(self._modules)
        with tempfile.TemporaryDirectory() as folder:
            for file in unit_files(binary, Path(folder)):
                module = ctypes.c_void_p()
                self._asked("cuModuleLoad", ctypes.byref(module), str(file).encode())
                self._modules.append(module)
                self._variables.append(self._loaded_variables(module, global_variables(file)))
        for name, variant in variants.items():
            if "symbol" in variant:
                self._variants[name] = {**variant, "unit": before + variant["unit"]}
                function, module = ctypes.c_void_p(), self._modules[before + variant["unit"]]
                self._asked("cuModuleGetFunction", ctypes.byref(function), module, variant["symbol"].encode())
                self._functions[name] = function
                self._most_shared_bytes[name] = _COMMON_SHARED_BYTES

    def unload(self) -> None:
        for module in self._modules:
            self._asked("cuModuleUnload", module)
        self._modules.clear()
        self._variables.clear()
        self._of_host.clear()
        self._variants.clear()
        self._functions.clear()

    def _asked(self, function: str, *arguments: Any) -> None:
        """Call the driver. Raises LaunchError where it refuses, and ContextLost where its context may be lost."""
        if status := getattr(self._libcuda, function)(*arguments):
            text = ctypes.c_char_p()
            self._libcuda.cuGetErrorString(status, ctypes.byref(text))
            raise _translated(f"{function} failed: {(text.value or b'').decode()}")

    def parameter_types(self, variant: str) -> Sequence[str]:
        known: Sequence[str] = self._variants[variant].get("parameter_types", [])
        return known

    def restorations(self, variants: Iterable[str]) -> list[Callable[[], None]]:
        return [partial(self._restore, one) for one in self._variables_of(variants)]

    def leaves_state(self, variants: Iterable[str]) -> bool:
        self.synchronize()
        known = [one for one in self._variables_of(variants) if one.initial]
        return any(self._bytes(one.address, one.size) != one.initial for one in known)

    def _variables_of(self, variants: Iterable[str]) -> list[_Variable]:
        units: set[int] = {self._variants[one]["unit"] for one in variants if "unit" in self._variants[one]}
        found = (one for unit in sorted(units) for one in self._variables[unit])
        return [one for one in found if one.address not in self._of_host]

    def _loaded_variables(self, module: ctypes.c_void_p, names: Mapping[str, bool]) -> list[_Variable]:
        """The variables in global memory of a module that was just loaded; `names` as global_variables() gives them."""
        variables = []
        for name, are_zeros in names.items():
            with suppress(LaunchError):  # Not every local name is known to the driver.
                address, size = self._place(module, name)
                kept = None
                if not are_zeros:
                    kept = cuda.mem_alloc(size)
                    cuda.memcpy_dtod(kept, address, size)
                initial = self._bytes(address, size) if size <= _MOST_COMPARED else b""
                variables.append(_Variable(address, size, initial, kept))
        return variables

    def _place(self, module: ctypes.c_void_p, name: str) -> tuple[int, int]:
        """The address and the size of a module's variable. Raises LaunchError."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self._asked("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode())
        return address.value, size.value

    def _restore(self, one: _Variable) -> None:
        if one.kept is None:
            cuda.memset_d8_async(one.address, 0, one.size, self._stream)
        else:
            self.copy(one.address, one.kept, one.size)

    def variable(self, variant: str, name: str) -> tuple[Any, int]:
        try:
            address, size = self._place(self._modules[self._variants[variant]["unit"]], name)
        except LaunchError as error:
            raise LaunchError(f"the kernel has no variable {name}: {error}") from error
        self._of_host.add(address)
        return address, size

    def launcher(self, launch: Launch, arguments: Given) -> Callable[[], None]:
        (function, shared_bytes), attributes = self._with_shared(launch), launch.attributes
        if prod(attributes.cluster) > _PORTABLE_CLUSTER:
            self._asked("cuFuncSetAttribute", function, _NON_PORTABLE_CLUSTER, 1)
        values = [ctypes.create_string_buffer(one, len(one)) for one in map(_as_bytes, arguments)]
        parameters = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        wanted: list[tuple[int, tuple[int, ...]]] = [(_COOPERATIVE, (1,))] if attributes.cooperative else []
        wanted += [(_CLUSTER, attributes.cluster)] if attributes.cluster else []
        wanted += [(_PROGRAMMATIC, (1,))] if attributes.programmatic else []
        given = (_LaunchAttribute * len(wanted))(*(_LaunchAttribute(number, 0, value) for number, value in wanted))
        config = _LaunchConfig((*launch.grid, *launch.block, shared_bytes), None, ctypes.addressof(given), len(wanted))
        return partial(self._launch, config, function, parameters, (values, given))

    def _launch(self, config: _LaunchConfig, function: ctypes.c_void_p, parameters: Any, _kept: object) -> None:
        config.stream = self._stream.handle
        self._asked("cuLaunchKernelEx", ctypes.byref(config), function, parameters, None)

    def sequence(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        return super().sequence(launches) if len(launches) <= MOST_LAUNCHES else self._graph(launches)

    def _graph(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """What queues launches as one command; the device has all of it before it runs."""
        stream, graph, executable = self._stream.handle, ctypes.c_void_p(), ctypes.c_void_p()
        self._asked("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), _RELAXED)
        try:
            for launch in launches:
                launch()
        finally:
            self._asked("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
        try:
            self._asked("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
        finally:
            self._asked("cuGraphDestroy", graph)
        self._asked("cuGraphUpload", executable, ctypes.c_void_p(stream))

        def queue() -> None:
            self._asked("cuGraphLaunch", executable, ctypes.c_void_p(self._stream.handle))

        weakref.finalize(queue, self._libcuda.cuGraphExecDestroy, executable).atexit = False
        return queue

    def _with_shared(self, launch: Launch) -> tuple[ctypes.c_void_p, int]:
        """A launch's function, which may use its dynamic shared memory from now on, and the bytes of that."""
        variant = launch.function
        # What the file that made a variant's code says of it, where one did.
        shared_bytes = launch.shared_bytes or self._variants[variant].get("dynamic_shared_bytes", 0)
        if shared_bytes > self._most_shared_bytes[variant]:
            self._asked("cuFuncSetAttribute", self._functions[variant], _MAX_DYNAMIC_SHARED_BYTES, shared_bytes)
            self._most_shared_bytes[variant] = shared_bytes
        return self._functions[variant], shared_bytes

    def occupancy(self, launch: Launch) -> float | None:
        function, shared_bytes = self._with_shared(launch)
        blocks = ctypes.c_int()
        status = self._libcuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), function, ctypes.c_int(launch.threads), ctypes.c_size_t(shared_bytes)
        )
        most_threads = self._device.get_attribute(cuda.device_attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        return float(blocks.value * launch.threads / most_threads) if status == 0 else None

    def synchronize(self) -> None:
        try:
            with self._busy():
                self._stream.synchronize()
        except cuda.Error as error:
            raise _translated(str(error)) from error

    def time(self, sample: Callable[[Callable[[], None], Callable[[], None]], None], count: int) -> list[float]:
        self._stream = next(self._streams)  # Nothing is queued on the other streams: time() ends synchronised.
        self._events += [(cuda.Event(), cuda.Event()) for _ in range(count - len(self._events))]
        events = self._events[:count]
        self._libcuda.cuCtxResetPersistingL2Cache()  # Not while the stream is held back: the call may wait for it.

        def begin(event: Any) -> None:
            if event is events[0][0]:  # The device prepares the first sample while the host queues the rest.
                self._close_gate()
            event.record(self._stream)

        try:
            for start, stop in events:
                sample(partial(begin, start), partial(stop.record, self._stream))
        finally:
            self._open_gate()
        with self._busy():
            self._conditions = self._monitor.conditions()  # While the GPU is busy; a moment later it is idle.
        self.synchronize()
        # The driver counts in steps of some nanoseconds and returns milliseconds as float32; this undoes its rounding.
        return [round(1000 * float(start.time_till(stop)), 3) for start, stop in events]

    def conditions(self) -> Conditions:
        return self._conditions

    def other_processes(self) -> tuple[int, ...]:
        return self._monitor.other_processes()

    def start_profiler(self) -> None:
        self.synchronize()
        cuda.start_profiler()

    def stop_profiler(self) -> None:
        self.synchronize()
        cuda.stop_profiler()

    def close(self) -> None:
        # At the end of the process PyCUDA aborts a context that is still current, which tools report as an error.
        self.__dict__.clear()
        gc.collect()
        cuda.Context.pop()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """Add the duration of the block, in which the host waits for the GPU, to busy_seconds."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.busy_seconds += time.perf_counter() - started

    def _asked_uuid(self) -> str:
        """The device's UUID as NVML writes that of a whole GPU, which alone gpus.visible_gpus() allows."""
        handle, answer = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        self._asked("cuDeviceGet", ctypes.byref(handle), 0)
        self._asked("cuDeviceGetUuid_v2", ctypes.byref(answer), handle)
        return f"GPU-{uuid.UUID(bytes=bytes(answer))}"

    def _close_gate(self) -> None:
        """Have the stream wait for the host."""
        until = int(self._gate[0]) + 1
        self._asked("cuStreamWaitValue32_v2", self._stream.handle, self._gate_address, until, _WAIT_UNTIL_AT_LEAST)

    def _open_gate(self) -> None:
        self._gate[0] += 1


def _as_bytes(argument: Memory | np.generic) -> bytes:
    """An argument's bytes, as the kernel has them."""
    return argument.tobytes() if isinstance(argument, np.generic) else int(argument).to_bytes(8, sys.byteorder)


def _translated(text: str) -> Exception:
    """What the driver says, as ContextLost or LaunchError."""
    return LaunchError(text) if any(refusal in text for refusal in _REFUSALS) else ContextLost(text)
