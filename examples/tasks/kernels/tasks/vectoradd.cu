extern "C" __global__ void vectoradd(float *c, const float *a, const float *b, int size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        c[i] = a[i] + b[i];
}
