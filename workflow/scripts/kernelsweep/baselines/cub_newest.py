"""The newest CUB's DeviceReduce, compiled by nvcc from cub_newest.cu."""

from kernelsweep.baselines.cub import load as load
