extern "C" __global__ void softmax(float *y, const float *x, int batch_size, int dim)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch_size)
        return;
    float largest = x[row * dim], sum = 0;
    for (int k = 1; k < dim; ++k)
        largest = fmaxf(largest, x[row * dim + k]);
    for (int k = 0; k < dim; ++k)
        sum += expf(x[row * dim + k] - largest);
    for (int k = 0; k < dim; ++k)
        y[row * dim + k] = expf(x[row * dim + k] - largest) / sum;
}
