// The functions of cub.cu, compiled with the newest CUB from PyPI instead of the toolkit's.
#include "cub.cu"
