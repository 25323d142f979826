// The prices of European options by Black and Scholes: one call and one put a thread.

__device__ float normal(float x)
{
    return 0.5f * erfcf(-0.70710678f * x);
}

extern "C" __global__ void __launch_bounds__(block_size_x)
    black_scholes(float *call, float *put, const float *price, const float *strike, const float *years, int n)
{
    const float riskless = 0.02f, volatility = 0.3f;
    const int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i >= n)
        return;
    const float spread = volatility * sqrtf(years[i]);
    const float d1 = (logf(price[i] / strike[i]) + (riskless + 0.5f * volatility * volatility) * years[i]) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike[i] * expf(-riskless * years[i]);
    call[i] = price[i] * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - price[i] * normal(-d1);
}
