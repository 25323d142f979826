"""A GPU through PyCUDA."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kernelsweep.build.binaries import global_variables, unit_files
from kernelsweep.errors import ContextLost, LaunchError, UserError
from kernelsweep.platforms.gpus import INSTALL_PYCUDA, gpus_of
from kernelsweep.platforms.kinds import GPU
from kernelsweep.platforms.monitor import Monitor
from kernelsweep.platforms.platform import Address, Conditions, Given, Memory, Platform, constant_bytes
from kernelsweep.sweep.kernels.plan import PLAIN, Attributes, Size

os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # NVML's order, which platforms/gpus.py counts by.

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
_COOPERATIVE, _CLUSTER = 2, 4  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
_PORTABLE_CLUSTER = 8  # blocks that every GPU with clusters has

# PyCUDA's letters for unsigned integers, by their bytes.
_SCALARS = {1: "B", 2: "H", 4: "I", 8: "Q"}

_PERSISTING_L2_SIZE = 0x06  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE

_EVENTS = 64  # Pairs; a batch of samples uses a few.

_WORD = 4  # bytes, of which compare() compares several

# The kernels behind equal() and error_share(): their threads a block, their blocks a multiprocessor, as many as can be
# resident, and the bytes that they leave.
_COMPARE_BLOCK = 256
_COMPARE_BLOCKS = 8
_VERDICT_BYTES = 16
_FLOATS = ("float16", "bfloat16", "float32", "float64")  # the kinds of within.ptx

_WAIT_UNTIL_AT_LEAST = 0x0  # CU_STREAM_WAIT_VALUE_GEQ

_MOST_COMPARED = 2**24  # bytes of variables, which are fetched after a point's first run

# What CUDA answers to a launch that it refuses. After any other error, such as an illegal address or a GPU that fell
# off the bus, every call in the context may fail, and only a new process tells.
_REFUSALS = ("invalid argument", "invalid resource handle", "out of memory", "too many", "not supported", "cluster")


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
        self._events = [(cuda.Event(), cuda.Event()) for _ in range(_EVENTS)]
        self._units: list[Any] = []
        self._variants: dict[str, dict[str, Any]] = {}
        self._functions: dict[str, Any] = {}
        self._prepared: set[str] = set()
        self._most_shared_bytes: dict[str, int] = {}
        self._modules: list[ctypes.c_void_p] = []
        self._unit_variables: list[list[_Variable]] = []
        self._variable_names: list[Mapping[str, bool]] = []
        # What PyCUDA can't launch is launched from the second copy of its module, in _modules.
        self._own_functions: dict[str, ctypes.c_void_p] = {}
        self._with_own_variables: set[int] = set()
        self._libcuda = ctypes.CDLL("libcuda.so.1")
        # No kernel may keep lines in the L2 from one run to the next. GPUs without this limit have no such lines.
        self._libcuda.cuCtxSetLimit(_PERSISTING_L2_SIZE, ctypes.c_size_t(0))
        self._wait_value = self._libcuda.cuStreamWaitValue32_v2
        self._wait_value.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint]
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
        """A new context, current from now on."""
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
            self._comparisons[kernel] = module.get_function(kernel)
        function = self._comparisons[kernel]
        function.prepare(types)
        blocks = self._device.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT) * _COMPARE_BLOCKS
        grid = min(blocks, -(-count // _COMPARE_BLOCK))
        cuda.memset_d32_async(self._found, 0, _VERDICT_BYTES // _WORD, self._stream)
        function.prepared_async_call((grid, 1), (_COMPARE_BLOCK, 1, 1), self._stream, *arguments, self._found)
        self.synchronize()
        return np.frombuffer(self._bytes(int(self._found), _VERDICT_BYTES), np.uint8)

    def _bytes(self, address: int, size: int) -> bytes:
        """Bytes of the device's memory."""
        found = np.empty(size, np.uint8)
        with self._busy():
            cuda.memcpy_dtoh(found, address)
        return found.tobytes()

    def flush_cache(self) -> None:
        cuda.memset_d32_async(self._flush_memory, 0, self._flush_words, self._stream)

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        before = len(self._units)
        with tempfile.TemporaryDirectory() as folder:
            files = unit_files(binary, Path(folder))
            loaded_units = [cuda.module_from_file(str(file)) for file in files]
            self._units += loaded_units
            names = list(map(global_variables, files))
            self._variable_names += names
            self._unit_variables += [
                self._loaded_variables(unit.get_global, of_unit)
                for unit, of_unit in zip(loaded_units, names, strict=True)
            ]
            # The driver computes occupancy from a module handle, which PyCUDA does not expose.
            modules = [ctypes.c_void_p() for _ in files]
            for module, file in zip(modules, files, strict=True):
                self._libcuda.cuModuleLoad(ctypes.byref(module), str(file).encode())
            self._modules += modules
        loaded = {
            name: {**variant, "unit": before + variant["unit"]}
            for name, variant in variants.items()
            if "symbol" in variant
        }
        self._variants |= loaded
        self._functions |= {
            name: self._units[variant["unit"]].get_function(variant["symbol"]) for name, variant in loaded.items()
        }
        self._prepared -= loaded.keys()
        for name in loaded:
            self._most_shared_bytes.pop(name, None)
            self._own_functions.pop(name, None)

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
        return [one for unit in sorted(units) for one in self._unit_variables[unit]]

    def _loaded_variables(
        self, place_of: Callable[[str], tuple[int, int]], names: Mapping[str, bool]
    ) -> list[_Variable]:
        """The variables in global memory of a module that was just loaded, where the driver has placed them.

        place_of  gives a variable's address and size
        names     as global_variables() gives them
        """
        found = []
        for name, are_zeros in names.items():
            with suppress(cuda.Error, LaunchError):  # Not every local name is known to the driver.
                address, size = map(int, place_of(name))
                kept = None
                if not are_zeros:
                    kept = cuda.mem_alloc(size)
                    cuda.memcpy_dtod(kept, address, size)
                initial = self._bytes(address, size) if size <= _MOST_COMPARED else b""
                found.append(_Variable(address, size, initial, kept))
        return found

    def _restore(self, one: _Variable) -> None:
        if one.kept is None:
            cuda.memset_d8_async(one.address, 0, one.size, self._stream)
        else:
            self.copy(one.address, one.kept, one.size)

    def set_constant(self, variant: str, name: str, values: np.ndarray[Any, Any]) -> None:
        try:
            address, size = self._units[self._variants[variant]["unit"]].get_global(name)
        except cuda.Error as error:
            raise LaunchError(f"the kernel has no variable {name} in constant memory: {error}") from error
        self.synchronize()
        for place in (address, self._own_global(self._variants[variant]["unit"], name)[0]):
            self.upload(place, constant_bytes(name, values, size))

    def launch(
        self, variant: str, grid: Size, block: Size, shared_bytes: int, arguments: Given, attributes: Attributes = PLAIN
    ) -> None:
        shared_bytes = shared_bytes or self._dynamic_shared_bytes(variant)
        function = self._functions[variant]
        is_new = variant not in self._prepared
        if attributes is not PLAIN or (is_new and any(isinstance(one, np.void) for one in arguments)):
            self._launch_extended(variant, (*grid, *block, shared_bytes), arguments, attributes)
            return
        if is_new:  # All launches of a kernel have arguments of the same sizes.
            function.prepare("".join(map(_format, arguments)))
            self._prepared.add(variant)
        try:
            if shared_bytes > self._most_shared_bytes.get(variant, _COMMON_SHARED_BYTES):
                function.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes)
                self._most_shared_bytes[variant] = shared_bytes
            function.prepared_async_call(grid, block, self._stream, *map(_packed, arguments), shared_size=shared_bytes)
        except cuda.Error as error:
            raise _translated(error) from error

    def _launch_extended(self, variant: str, sizes: Sequence[int], arguments: Given, attributes: Attributes) -> None:
        """Launch with attributes, or with structures, by what PyCUDA has no call for; `sizes` as in _LaunchConfig."""
        function, is_large = self._own_function(variant), prod(attributes.cluster) > _PORTABLE_CLUSTER
        settings = [(_MAX_DYNAMIC_SHARED_BYTES, sizes[-1])] if sizes[-1] > _COMMON_SHARED_BYTES else []
        settings += [(_NON_PORTABLE_CLUSTER, 1)] if is_large else []
        status = next(filter(None, (self._libcuda.cuFuncSetAttribute(function, *one) for one in settings)), 0)
        values = [ctypes.create_string_buffer(one, len(one)) for one in map(_as_bytes, arguments)]
        parameters = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        wanted: list[tuple[int, tuple[int, ...]]] = [(_COOPERATIVE, (1,))] if attributes.cooperative else []
        wanted += [(_CLUSTER, attributes.cluster)] if attributes.cluster else []
        given = (_LaunchAttribute * 2)(*(_LaunchAttribute(number, 0, value) for number, value in wanted))
        config = _LaunchConfig(tuple(sizes), self._stream.handle, ctypes.addressof(given), len(wanted))
        status = status or self._libcuda.cuLaunchKernelEx(ctypes.byref(config), function, parameters, None)
        if status:
            text = ctypes.c_char_p()
            self._libcuda.cuGetErrorString(status, ctypes.byref(text))
            raise _translated(RuntimeError((text.value or b"").decode()))

    def _dynamic_shared_bytes(self, variant: str) -> int:
        """What the file that made a variant's code says of it; 0 where none did."""
        known: int = self._variants[variant].get("dynamic_shared_bytes", 0)
        return known

    def _own_function(self, variant: str) -> ctypes.c_void_p:
        """A variant's function in the module of _modules, whose variables are restored from now on, too."""
        if variant not in self._own_functions:
            function, unit = ctypes.c_void_p(), self._variants[variant]["unit"]
            symbol = self._variants[variant]["symbol"].encode()
            if self._libcuda.cuModuleGetFunction(ctypes.byref(function), self._modules[unit], symbol):
                raise LaunchError(f"the driver finds no function {variant} in its cubin")
            self._own_functions[variant] = function
            if unit not in self._with_own_variables:
                self._with_own_variables.add(unit)
                own = partial(self._own_global, unit)
                self._unit_variables[unit] += self._loaded_variables(own, self._variable_names[unit])
        return self._own_functions[variant]

    def _own_global(self, unit: int, name: str) -> tuple[int, int]:
        """The address and the size of a variable in the module of _modules."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        if self._libcuda.cuModuleGetGlobal_v2(
            ctypes.byref(address), ctypes.byref(size), self._modules[unit], name.encode()
        ):
            raise LaunchError(f"the driver finds no variable {name}")
        return address.value, size.value

    def occupancy(self, variant: str, threads: int, shared_bytes: int) -> float | None:
        shared_bytes = shared_bytes or self._dynamic_shared_bytes(variant)
        function = ctypes.c_void_p()
        blocks = ctypes.c_int()
        symbol, module = self._variants[variant]["symbol"].encode(), self._modules[self._variants[variant]["unit"]]
        status = self._libcuda.cuModuleGetFunction(ctypes.byref(function), module, symbol)
        if shared_bytes > _COMMON_SHARED_BYTES:
            status = status or self._libcuda.cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED_BYTES, shared_bytes)
        status = status or self._libcuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), function, ctypes.c_int(threads), ctypes.c_size_t(shared_bytes)
        )
        most_threads = self._device.get_attribute(cuda.device_attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        return float(blocks.value * threads / most_threads) if status == 0 else None

    def synchronize(self) -> None:
        try:
            with self._busy():
                self._stream.synchronize()
        except cuda.Error as error:
            raise _translated(error) from error

    def time(self, sample: Callable[[Callable[[], None], Callable[[], None]], None], count: int) -> list[float]:
        self._stream = next(self._streams)  # Nothing is queued on the other streams: time() ends synchronised.
        self._events += [(cuda.Event(), cuda.Event()) for _ in range(count - len(self._events))]
        events = self._events[:count]
        self._libcuda.cuCtxResetPersistingL2Cache()  # Not while the stream is held back: the call may wait for it.
        self._close_gate()
        try:
            for start, stop in events:
                sample(lambda e=start: e.record(self._stream), lambda e=stop: e.record(self._stream))  # type: ignore[misc]
        finally:
            self._open_gate()
        with self._busy():
            self._conditions = self._monitor.conditions()  # While the GPU is busy; a moment later it is idle.
        self.synchronize()
        # The driver counts in steps of some nanoseconds and returns milliseconds as float32; this undoes its rounding.
        return [round(1000 * float(start.time_till(stop)), 3) for start, stop in events]

    def conditions(self) -> Conditions:
        return self._conditions

    def energy_mj(self) -> int | None:
        return self._monitor.energy_mj()

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
        status = self._libcuda.cuDeviceGet(ctypes.byref(handle), 0)
        status = status or self._libcuda.cuDeviceGetUuid_v2(ctypes.byref(answer), handle)
        if status != 0:
            raise RuntimeError(f"the CUDA driver doesn't tell the GPU's UUID (it answered {status})")
        return f"GPU-{uuid.UUID(bytes=bytes(answer))}"

    def _close_gate(self) -> None:
        """Have the stream wait for the host."""
        status = self._wait_value(self._stream.handle, self._gate_address, int(self._gate[0]) + 1, _WAIT_UNTIL_AT_LEAST)
        if status != 0:
            raise LaunchError(f"this driver can't hold a stream back (cuStreamWaitValue32 answered {status})")

    def _open_gate(self) -> None:
        self._gate[0] += 1


def _format(argument: Memory | np.generic) -> str:
    """The letter by which PyCUDA packs an argument: an address, or an unsigned integer of a scalar's size.

    PyCUDA aligns each to its size, as CUDA does. Raises LaunchError for a scalar of another size.
    """
    if not isinstance(argument, np.generic):
        return "P"
    if argument.nbytes not in _SCALARS:
        raise LaunchError(
            f"a scalar of type {argument.dtype} has {argument.nbytes} bytes; kernels can be passed scalars of "
            f"{', '.join(map(str, _SCALARS))} bytes"
        )
    return _SCALARS[argument.nbytes]


def _as_bytes(argument: Memory | np.generic) -> bytes:
    """An argument's bytes, as the kernel has them."""
    return argument.tobytes() if isinstance(argument, np.generic) else int(argument).to_bytes(8, sys.byteorder)


def _packed(argument: Memory | np.generic) -> Any:
    """An argument as PyCUDA packs it by its letter: a scalar's bits as an unsigned integer."""
    return int.from_bytes(argument.tobytes(), sys.byteorder) if isinstance(argument, np.generic) else argument


def _translated(error: Exception) -> Exception:
    """PyCUDA's exception as ContextLost or LaunchError."""
    text = str(error)
    return LaunchError(text) if any(refusal in text for refusal in _REFUSALS) else ContextLost(text)
