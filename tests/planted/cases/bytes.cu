// Elements of one and two bytes. x has 254 bytes: its last word is not whole.

// right: each byte of a word is a thread's own
__global__ void own_bytes(const unsigned char *x, int *y, int *z)
{
    __shared__ unsigned char bytes[64];
    for (int round = 0; round < 3; ++round)
        bytes[t] = round == 0 ? x[i] : bytes[t] + 1;
    y[i] = bytes[t];
}

// right: written by bytes, read by words, and written by halves, with barriers
__global__ void words_of_bytes(const unsigned char *x, int *y, int *z)
{
    __shared__ __align__(4) unsigned char bytes[128];
    bytes[t] = x[i];
    bytes[64 + t] = x[i + 64];
    __syncthreads();
    const uchar4 four = reinterpret_cast<uchar4 *>(bytes)[t / 2];
    __syncthreads();
    reinterpret_cast<unsigned short *>(bytes)[t] = static_cast<unsigned short>(four.x + four.w);
    __syncthreads();
    y[i] = bytes[127 - t];
}

// right: the last byte, and the last pair of bytes
__global__ void last_bytes(const unsigned char *x, int *y, int *z)
{
    y[i] = x[253 - i] + reinterpret_cast<const unsigned short *>(x)[126 - i / 2];
}

// right: bytes of global memory, of neighbouring blocks
__global__ void bytes_of_blocks(const unsigned char *x, unsigned char *y, int *z)
{
    for (int place = 1 + 2 * i; place < 3 + 2 * i; ++place)
        y[place] = x[place % 254];
}

// right: halves, exchanged by __syncwarp
__global__ void exchanged_halves(const __half *x, __half *y, int *z)
{
    __shared__ __half tile[64];
    tile[t] = x[i % 127];
    __syncwarp();
    y[i] = tile[t ^ 1];
}

// wrong (races: race): four lanes go by the byte that the first of them has stored
__global__ void byte_of_first(const unsigned char *x, int *y, int *z)
{
    __shared__ unsigned char bytes[64];
    bytes[t] = x[i];
    y[i] = bytes[t & ~3];
}

// wrong (races: race): two lanes go by the half word that the first of them has stored
__global__ void half_of_first(const __half *x, __half *y, int *z)
{
    __shared__ __half tile[64];
    tile[t] = x[i % 127];
    y[i] = tile[t & ~1];
}

// wrong (races: race): a word of four lanes' bytes, which the last of them reads
__global__ void word_of_four(const unsigned char *x, int *y, int *z)
{
    __shared__ __align__(4) unsigned char bytes[64];
    bytes[t] = x[i];
    if (t % 4 == 3)
        y[i] = reinterpret_cast<int *>(bytes)[t / 4];
}

// wrong (races: race): the blocks' bytes overlap
__global__ void overlapping_bytes(const unsigned char *x, unsigned char *y, int *z)
{
    y[63 * blockIdx.x + t] = x[i] + static_cast<unsigned char>(i);
}

// wrong (bounds: out_of_bounds): the byte behind the last
__global__ void byte_past_end(const unsigned char *x, int *y, int *z)
{
    y[i] = x[127 + i];
}

// wrong (bounds: out_of_bounds): a vector of bytes that reaches over the end
__global__ void bytes_over_end(const unsigned char *x, int *y, int *z)
{
    y[i] = i < 64 ? reinterpret_cast<const uchar4 *>(x)[i].w : 0;
}

// wrong (bounds: out_of_bounds): a pair of halves that reaches over the end
__global__ void halves_over_end(const __half *x, __half *y, int *z)
{
    y[i] = i < 64 ? __low2half(reinterpret_cast<const __half2 *>(x)[i]) : x[0];
}

// wrong (bounds: out_of_bounds): a vector of words that reaches over the end
__global__ void words_over_end(const int *x, int *y, int *z)
{
    const uint2 words = reinterpret_cast<const uint2 *>(x)[t / 2];
    y[i] = int(words.x + words.y);
}

// wrong (bounds: out_of_bounds): a half behind the last is written
__global__ void half_past_end(__half *x, int *y, int *z)
{
    x[i] = __half(1.0f);
    y[i] = 0;
}
