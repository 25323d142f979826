"""How far right kernels may be off, for `error_bound` in problem files: `from kernelsweep import bounds`.

    bounds.matmul(A, B)                                        a matrix product, in whatever order a kernel adds
    bounds.rounded(expected["y"], "bfloat16")                  one rounding
    x = bounds.exact(x, "float32"); (x * x + 1).sqrt().error   any formula, operation by operation

Each bound is absolute, in the unit of the result, and holds for every kernel that makes the assumptions of its
docstring. All assume that operations round to the nearest, as CUDA's do without --use_fast_math, and that nothing
overflows. A fused multiply-add rounds once where a product and a sum round twice, so the bounds hold with it.

`dtype` is the type in which a kernel computes: a type of NumPy's, ml_dtypes' or PyTorch's, or its name, or "tf32".
Where it is left out: float64 for values of float64, else float32, in which kernels add float16 and bfloat16, too.

Sources: [H] is Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002. [JR] is Jeannerod and
Rump, "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34 (2013).
[BHH] is Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions", IMA J. Numer. Anal.
41 (2021). [FHMP] is Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
Science 7 (2021), e330. [CUDA] is NVIDIA's CUDA C++ Programming Guide, "Mathematical Functions Appendix".

A reference in float64 is taken for exact, and so are these computations in float64. Where numbers of float64 cancel in
a reference, add what that makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.tensors import as_array

Array = np.ndarray[Any, Any]

# The bits of a significand with the leading one, and the exponent of the smallest normal number.
_FORMATS = {
    "float64": (53, -1022),
    "float32": (24, -126),
    "tf32": (11, -126),
    "float16": (11, -14),
    "bfloat16": (8, -126),
    "float8_e4m3fn": (4, -6),
    "float8_e5m2": (3, -14),
    "float8_e8m0fnu": (1, -127),
}
# The maximum errors of CUDA's functions in float32 and float64, in units in the last place of the correctly rounded
# result [CUDA].
_ULPS = {"exp": (2, 1), "log": (1, 1), "sqrt": (0, 0), "rsqrt": (2, 1), "tanh": (2, 2), "erfc": (4, 5)}


# log(erfc(x) exp(x^2) / t) as a polynomial of t = 1 / (1 + x / 2), for x from 0 on, with a relative error of erfc below
# 1.2e-7: Press et al., "Numerical Recipes", 6.2. NumPy has no erfc, and Python's takes longer than all else.
_ERFC = (
    *(0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807),
    *(-0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223),
)


def unit(dtype: Any) -> float:
    """The unit roundoff u: the largest relative error of one rounding to the nearest, 2^-p for p bits [H, 2.1].

    2^-24 for float32, 2^-11 for float16 and tf32, 2^-8 for bfloat16, 2^-4 for float8_e4m3fn, 2^-3 for float8_e5m2.
    """
    return 2.0 ** -_FORMATS[_name(dtype)][0]


def underflow(dtype: Any) -> float:
    """The largest absolute error of a rounding to a number below the smallest normal one [H, (2.8)].

    A GPU that takes such numbers for zero (--ftz=true) is off by up to 2 ** p times as much.
    """
    return unit(dtype) * 2.0 ** _FORMATS[_name(dtype)][1]


def gamma(n: float, dtype: Any) -> float:
    """The relative error that n roundings make, of factors or of terms of one sign: n u / (1 - n u) [H, Lemma 3.1].

    Raises ValueError from n u = 1 on, where it bounds nothing.
    """
    error = n * unit(dtype)
    if not error < 1:
        raise ValueError(f"{n:,} roundings of {_name(dtype)} may lose every digit. In which type does the kernel add?")
    return error / (1 - error)


def additions(n: float, dtype: Any, chain: float | None = None) -> float:
    """The error of a sum of n numbers of the type, in any order, as a share of the sum of their magnitudes.

    chain  the most additions that a term goes through; log2(n) for a tree. Left out: n - 1, as in a loop

    (n - 1) u holds for any order and any n [JR], and gamma(chain) where terms go through fewer additions [H, 4.2].
    """
    most = max(n - 1, 0) * unit(dtype)
    return min(most, gamma(chain, dtype)) if chain is not None and chain * unit(dtype) < 1 else most


def total(x: Any, dtype: Any = None, axis: int | None = None, chain: float | None = None) -> Any:
    """The error of the sum of x along an axis, or of all of x, in any order: additions(n) * sum |x|.

    x is taken for exact: the numbers as the kernel reads them, which are none that it rounds first. The shape is that
    of the sum. `chain` as for additions().
    """
    return exact(x, dtype).sum(axis, chain).error


def dot(a: Any, b: Any, dtype: Any = None, axis: int = -1, chain: float | None = None) -> Any:
    """The error of a scalar product along an axis, in any order: gamma(n) * sum |a b| [H, (3.5)].

    chain  the most roundings that a product goes through, its own among them. Left out: n

    The products are rounded to `dtype`, or exact, and added in it.
    """
    return matmul(_wide(a, axis)[..., None, :], _wide(b, axis)[..., :, None], _type_of(dtype, a, b), chain)[..., 0, 0]


def matmul(
    A: Any, B: Any, dtype: Any = None, chain: float | None = None, inputs: Any = None, tensor_cores: bool = False
) -> Any:
    """The error of the matrix product A B, or of each of a stack of them: gamma(k) |A| |B| [H, (3.13)].

    A, B          shapes (..., m, k) and (..., k, n); the bound has the shape (..., m, n)
    chain         the most roundings that a product goes through, its own among them. Left out: k
    inputs        the type to which A and B are rounded before: (2 u + u^2) |A| |B| more. Left out: they are exact
    tensor_cores  whether tensor cores multiply. They cut off where others round, so that an addition's error is 2 u.
                  They add w products and a sum at once, and cut each of them at the last bit of the largest: w + 1
                  errors for w products, so 2 k in all [FHMP]

    A result that is stored in a narrower type is rounded once more: rounded(expected, "float16", matmul(A, B)).
    """
    dtype = _type_of(dtype, A, B)
    size = _wide(abs(as_array(A))) @ _wide(abs(as_array(B)))
    k = np.shape(A)[-1]
    first = 0.0 if inputs is None else 2 * unit(inputs) + unit(inputs) ** 2
    sums = gamma(2 * 2 * k if tensor_cores else k if chain is None else chain, dtype)
    return (first + (1 + first) * sums) * size + k * underflow(dtype)


def rounded(x: Any, to: Any, error: Any = 0.0) -> Any:
    """The error of x once it is rounded to a type: u |x| [H, Theorem 2.2], or underflow(to) if that is more.

    error  how far x may have been off before

    Both are arrays or numbers. The bound has the shape of x.
    """
    return error + np.maximum(unit(to) * (abs(_wide(x)) + error), underflow(to))


def norm(x: Any, dtype: Any = None, axis: int = -1, chain: float | None = None) -> Any:
    """The error of the Euclidean norm of x along an axis: the root of a sum of squares. `chain` as for dot()."""
    dtype = _type_of(dtype, x)
    square = _wide(x, axis) ** 2
    return Computed(square.sum(-1), dot(x, x, dtype, axis, chain), dtype).sqrt().error


def softmax(
    x: Any, dtype: Any = None, axis: int = -1, chain: float | None = None, rescalings: float = 0, ulps: Any = None
) -> Any:
    """The error of exp(x - max x) over its sum along an axis.

    chain       the most additions that a term goes through, as for additions()
    rescalings  how often an online kernel multiplies a sum by exp(old maximum - new maximum), at most
    ulps        the maximum error of the kernel's exp; left out: that of expf or exp [CUDA]

    As a share of the result it is, to first order, (d + mean d + n + 2 + 4 ulps) u with d = max x - x, where the mean
    is weighted by the results: the analysis of the shifted softmax in [BHH], with an exp that is off by `ulps`. A
    term's exponents add up to d, in however many rescalings, each of which has an exp and a product. What underflows
    may be taken for zero.
    """
    dtype = _type_of(dtype, x)
    u, of_exp, values = unit(dtype), _share("exp", dtype, ulps), _wide(x, axis)
    # Terms that are masked, by minus infinity, are zero, and so is exp(-800).
    distance = np.minimum(values.max(-1, keepdims=True) - values, 800)
    result = np.exp(-distance)
    result /= result.sum(-1, keepdims=True)
    # A term is off by a share of of_exp + slope * distance, since exp(t) - 1 <= t (1 + t). A product of factors 1 + t
    # is at most the exponential of the sum of t.
    slope = u * (1 + u * distance.max()) * (1 + of_exp)
    of_terms = of_exp + slope * np.einsum("...i,...i", result, distance)[..., None]
    of_sum = np.expm1(additions(values.shape[-1], dtype, chain) + rescalings * (of_exp + u))
    factor = (1 + u) / (1 - of_sum - (1 + of_sum) * of_terms)
    # result * (factor * (1 + of_exp + slope * distance) - 1), in place: rows may be many.
    distance *= factor * slope
    distance += factor * (1 + of_exp) - 1
    distance *= result
    distance += 2 * 2.0 ** _FORMATS[dtype][1]
    return np.moveaxis(distance, -1, axis)


def layer_norm(
    x: Any,
    scale: Any = 1.0,
    shift: Any = 0.0,
    epsilon: float = 0.0,
    dtype: Any = None,
    chain: float | None = None,
    is_centred: bool = True,
) -> Any:
    """The error of (x - mean) / sqrt(mean of squares + epsilon) * scale + shift along the last axis.

    chain       the most additions that a term goes through, as for additions()
    is_centred  whether the mean is subtracted first; not so in an RMS norm

    The kernel subtracts the mean before it squares: mean(x^2) - mean(x)^2 is worse. It multiplies by rsqrtf, or divides
    by a root, which is better [CUDA]. The rest is a running error analysis [H, 3.3].
    """
    dtype = _type_of(dtype, x)
    values = exact(x, dtype)
    n = values.value.shape[-1]
    if is_centred:
        values = values - (values.sum(-1, chain) / n)[..., None]
    variance = (values * values).sum(-1, chain) / n
    return (values * (variance + epsilon).rsqrt()[..., None] * exact(scale, dtype) + exact(shift, dtype)).error


def exact(x: Any, dtype: Any = None) -> Computed:
    """Make values, as a kernel reads them, ready for a formula that it computes in a type: see Computed."""
    return Computed(_wide(x), np.float64(0), _type_of(dtype, x))


@dataclass(frozen=True, eq=False)
class Computed:
    """Values of a formula, with the most that a kernel's may be off: a running error analysis [H, 3.3].

    value  what exact arithmetic gives, but for a relative error of 1.2e-7: it weighs errors, and is no reference
    error  how far each of a kernel's values may be off: the same shape, or one for all
    dtype  the type in which the kernel computes

    +, -, *, / and the methods give the error of what went in, and one rounding. Numbers in Python that the type cannot
    hold, such as 0.1, may be rounded first; those of NumPy are exact. Errors are added up as if all had the worst sign,
    so write a formula with each value as seldom as the kernel does.
    """

    value: Any
    error: Any
    dtype: str

    # NumPy's arrays leave `array * computed` to this class.
    __array_ufunc__ = None

    def _other(self, other: Any) -> Computed:
        if isinstance(other, Computed):
            return other
        if isinstance(other, int | float) and not isinstance(other, np.generic):
            is_held = math.ldexp(math.frexp(other)[0], _FORMATS[self.dtype][0]).is_integer()
            return Computed(float(other), 0.0 if is_held else unit(self.dtype) * abs(other), self.dtype)
        return exact(other, self.dtype)

    def _rounded(self, value: Any, error: Any, share: float | None = None) -> Computed:
        """A result that is off by `error` because of its arguments, and by a share of itself, by default u."""
        share = unit(self.dtype) if share is None else share
        return Computed(value, error + share * (abs(value) + error) + underflow(self.dtype), self.dtype)

    def _positive(self) -> Any:
        """The values. Raises ValueError where one of them, less its error, is not above zero."""
        if not np.all(self.value > self.error):
            raise ValueError("a divisor may be zero, or the argument of log or rsqrt may not be positive, by its error")
        return self.value

    def __add__(self, other: Any) -> Computed:
        other = self._other(other)
        return self._rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Any) -> Computed:
        return self + -self._other(other)

    def __neg__(self) -> Computed:
        return Computed(-self.value, self.error, self.dtype)

    def __mul__(self, other: Any) -> Computed:
        other = self._other(other)
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return self._rounded(self.value * other.value, error)

    def __truediv__(self, other: Any) -> Computed:
        other = self._other(other)
        size = Computed(abs(other.value), other.error, self.dtype)._positive()
        value = self.value / other.value
        return self._rounded(value, (self.error + abs(value) * other.error) / (size - other.error))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Computed:
        return self._other(other) - self

    def __rtruediv__(self, other: Any) -> Computed:
        return self._other(other) / self

    def __getitem__(self, index: Any) -> Computed:
        return self.arranged(lambda values: values[index])

    def arranged(self, by: Callable[[Array], Array]) -> Computed:
        """The values moved, repeated or chosen by a function of an array, such as `lambda x: np.pad(x, 1, "edge")`."""
        return Computed(by(self.value), by(np.broadcast_to(self.error, np.shape(self.value))), self.dtype)

    def sum(self, axis: int | None = None, chain: float | None = None) -> Computed:
        """The sum along an axis, or of all, in any order; `chain` as for additions()."""
        errors = np.broadcast_to(self.error, np.shape(self.value))
        count = np.size(self.value) if axis is None else np.shape(self.value)[axis]
        before = errors.sum(axis)
        error = before + additions(count, self.dtype, chain) * (np.abs(self.value).sum(axis) + before)
        return Computed(np.sum(self.value, axis), error, self.dtype)

    def exp(self, ulps: float | None = None) -> Computed:
        """The exponential, as CUDA's expf or exp has it, or one whose maximum error is `ulps`."""
        value = np.exp(self.value)
        return self._rounded(value, value * np.expm1(self.error), _share("exp", self.dtype, ulps))

    def log(self, ulps: float | None = None) -> Computed:
        """The natural logarithm, as CUDA's logf or log has it, or one whose maximum error is `ulps`."""
        error = -np.log1p(-self.error / self._positive())
        return self._rounded(np.log(self.value), error, _share("log", self.dtype, ulps))

    def sqrt(self, ulps: float | None = None) -> Computed:
        """The square root, correctly rounded as CUDA's is without --prec-sqrt=false, or with an error of `ulps`."""
        value = np.sqrt(self.value)
        lowest, highest = (np.sqrt(np.maximum(self.value + error, 0)) for error in (-self.error, self.error))
        error = np.maximum(value - lowest, highest - value)
        return self._rounded(value, error, _share("sqrt", self.dtype, ulps))

    def rsqrt(self, ulps: float | None = None) -> Computed:
        """One over the square root, as CUDA's rsqrtf or rsqrt has it, or one whose maximum error is `ulps`."""
        value = 1 / np.sqrt(self._positive())
        error = 1 / np.sqrt(self.value - self.error) - value
        return self._rounded(value, error, _share("rsqrt", self.dtype, ulps))

    def tanh(self, ulps: float | None = None) -> Computed:
        """The hyperbolic tangent, as CUDA's tanhf or tanh has it, or one whose maximum error is `ulps`."""
        least = np.tanh(np.maximum(abs(self.value) - self.error, 0))
        return self._rounded(np.tanh(self.value), self.error * (1 - least**2), _share("tanh", self.dtype, ulps))

    def erfc(self, ulps: float | None = None) -> Computed:
        """The complementary error function, as CUDA's erfcf or erfc has it, or one whose maximum error is `ulps`."""
        size = abs(self.value)
        t = 1 / (1 + size / 2)
        of_positive = t * np.exp(np.polyval(_ERFC, t) - size**2)
        value = np.where(self.value < 0, 2 - of_positive, of_positive)
        steepest = np.exp(-(np.maximum(abs(self.value) - self.error, 0) ** 2))
        error = 2 / math.sqrt(math.pi) * self.error * steepest
        return self._rounded(value, error, _share("erfc", self.dtype, ulps))


def _share(function: str, dtype: Any, ulps: Any) -> Any:
    """The relative error of a function whose maximum error is `ulps` units of the correctly rounded result.

    A unit in the last place is at most 2 u of the result, and its rounding is off by u.
    """
    if ulps is None:
        ulps = _ULPS[function][_name(dtype) == "float64"]
    return (2 * np.max(ulps) + 1) * unit(dtype)


def _name(dtype: Any) -> str:
    """The name of a floating-point type. Raises ValueError for another one."""
    name = str(getattr(dtype, "name", getattr(dtype, "__name__", dtype))).removeprefix("torch.")
    if name not in _FORMATS:
        raise ValueError(f"{name} is no type of floating point. Known are {', '.join(_FORMATS)}.")
    return name


def _type_of(dtype: Any, *values: Any) -> str:
    """The name of a type, or of that in which kernels usually compute: float64 for float64, else float32."""
    if dtype is not None:
        return _name(dtype)
    return "float64" if any(str(getattr(value, "dtype", "")).endswith("float64") for value in values) else "float32"


def _wide(values: Any, axis: int = -1) -> Any:
    """Values as float64, with one of the axes last."""
    wide = np.asarray(as_array(values)).astype(np.float64)
    return np.moveaxis(wide, axis, -1) if wide.ndim else wide[()]
