"""Profile kernels under NVIDIA Nsight Compute (ncu): https://docs.nvidia.com/nsight-compute/NsightComputeCli/"""
