"""Prices of European options: a reference that calls erfc in Python for each element."""

import math

import numpy as np

from kernelsweep import bounds

RISKLESS, VOLATILITY = np.float32(0.02), np.float32(0.3)
AT_ONCE = 2**15


def inputs(random, n):
    return {
        "price": 5 + 25 * random.random(n, np.float32),
        "strike": 1 + 99 * random.random(n, np.float32),
        "years": np.float32(0.25) + 9 * random.random(n, np.float32),
    }


def outputs(n):
    return {"call": (n, np.float32), "put": (n, np.float32)}


def normal(x):
    return 0.5 * np.vectorize(math.erfc)(-math.sqrt(0.5) * x)


def reference(price, strike, years):
    price, strike, years = map(np.float64, (price, strike, years))
    riskless, volatility = float(RISKLESS), float(VOLATILITY)
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (riskless + volatility**2 / 2) * years) / spread
    discounted = strike * np.exp(-riskless * years)
    first, second = normal(d1), normal(d1 - spread)
    return {
        "call": price * first - discounted * second,
        "put": discounted * (1 - second) - price * (1 - first),
    }


def error_bound(price, strike, years):
    """The formula as the kernel has it, some options at a time: what is made of them stays in the cache.

    The reference's own roundings are more where a put is worth next to nothing, because it takes 1 - normal(x).
    """
    of_reference = bounds.gamma(16, "float64") * (price.astype(np.float64) + strike)
    found = {"call": of_reference, "put": of_reference.copy()}
    for start in range(0, price.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        for name, error in _errors(*(bounds.exact(x[part]) for x in (price, strike, years))).items():
            found[name][part] += error
    return found


def _errors(price, strike, years):
    def normal(x):
        return 0.5 * (-0.70710678 * x).erfc()

    spread = VOLATILITY * years.sqrt()
    drift = RISKLESS + 0.5 * bounds.exact(VOLATILITY) * VOLATILITY
    d1 = ((price / strike).log() + drift * years) / spread
    d2 = d1 - spread
    discounted = strike * (-RISKLESS * years).exp()
    call = price * normal(d1) - discounted * normal(d2)
    put = discounted * normal(-d2) - price * normal(-d1)
    return {"call": call.error, "put": put.error}


def work(n):
    return {"bytes": 5 * 4 * n}
