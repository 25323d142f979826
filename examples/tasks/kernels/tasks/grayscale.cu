extern "C" __global__ void grayscale(float *gray, const float *image, int height, int width)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *pixel = image + 3 * (y * width + x);
    gray[y * width + x] = 0.2989f * pixel[0] + 0.5870f * pixel[1] + 0.1140f * pixel[2];
}
