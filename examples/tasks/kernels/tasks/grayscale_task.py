"""In the form of GPU MODE's boards: the luminance of an image, with the weights of ITU-R BT.601."""

import numpy as np


def generate_input(height, width, seed):
    return np.random.default_rng(seed).random((height, width, 3), np.float32)


def ref_kernel(data):
    return data @ np.array([0.2989, 0.5870, 0.1140], np.float32)
