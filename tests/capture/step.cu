// The kernel of program.cpp.
struct Field {
    float *values;
    int n;
};

__constant__ float scale = 1;
__device__ float total;

template <int TILE> __global__ void step(float *out, Field in, float factor)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < in.n) out[i] = scale * factor * in.values[i];
    if (i == 0) total += factor;
}
