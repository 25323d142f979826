"""Prices of European options: a reference that calls erfc in Python for each element."""

import math

import numpy as np


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
    riskless, volatility = float(np.float32(0.02)), float(np.float32(0.3))
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (riskless + volatility**2 / 2) * years) / spread
    discounted = strike * np.exp(-riskless * years)
    first, second = normal(d1), normal(d1 - spread)
    return {
        "call": price * first - discounted * second,
        "put": discounted * (1 - second) - price * (1 - first),
    }


def error_bound():
    """Two products of at most 100 with factors that are off by some 2^-20."""
    return {"call": 2e-4, "put": 2e-4}


def work(n):
    return {"bytes": 5 * 4 * n}
