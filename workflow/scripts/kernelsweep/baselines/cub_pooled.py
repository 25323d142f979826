"""The newest CUB's sum with memory from a pool, compiled by nvcc from cub_pooled.cu."""

from kernelsweep.baselines.cub import load as load
