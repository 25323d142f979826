// The size of the arrays is a multiple of four.
extern "C" __global__ void axpy_vectors(float4 *y, const float4 *x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        const float4 add = x[i];
        float4 sum = y[i];
        sum.x += a * add.x;
        sum.y += a * add.y;
        sum.z += a * add.z;
        sum.w += a * add.w;
        y[i] = sum;
    }
}
