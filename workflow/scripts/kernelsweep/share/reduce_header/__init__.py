"""A C++ header that reduces an array by the best measured configuration of its size.

offered       the kernels that the header can offer
size_classes  one configuration for each class of array sizes
sources       the kernels' files as one text
export        the header, made from template.cuh
"""
