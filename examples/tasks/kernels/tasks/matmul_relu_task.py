"""In the form of KernelBench: a matrix product, a bias, and what is above zero."""

import numpy as np


class Model:
    def __init__(self, scale):
        self.scale = scale

    def forward(self, a, b, bias):
        return np.maximum(self.scale * (a.astype(np.float64) @ b) + bias, 0).astype(np.float32)


M, K, N = 512, 256, 512


def get_inputs():
    return [np.random.rand(*shape).astype(np.float32) for shape in ((M, K), (K, N), (N,))]


def get_init_inputs():
    return [0.5]
