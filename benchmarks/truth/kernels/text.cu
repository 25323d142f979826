// Bytes, text, structures, and words that are taken apart.

struct Particle {
    float place[3];
    int kind;
};

struct Pair {
    char key;
    int value;
};

// right: words of four bytes, and the rest by bytes
__global__ void bytes_by_words(const int *x, int *y, int *z)
{
    const char *const from = reinterpret_cast<const char *>(x);
    char *const to = reinterpret_cast<char *>(y);
    const int length = 2 * 64 * 4 + 3;
    for (int word = i; word < length / 4; word += 128)
        reinterpret_cast<int *>(to)[word] = reinterpret_cast<const int *>(from)[word];
    if (i < length % 4)
        to[length / 4 * 4 + i] = from[length / 4 * 4 + i];
}

// wrong (bounds: misaligned): words from an odd place
__global__ void words_from_odd_place(const int *x, int *y, int *z)
{
    const char *const from = reinterpret_cast<const char *>(x) + 1;
    y[i] = *reinterpret_cast<const int *>(from + 4 * i);
}

// wrong (bounds: out_of_bounds): a line is read up to its end, which the last one has not
__global__ void line_without_end(const int *x, int *y, int *z)
{
    const char *const text = reinterpret_cast<const char *>(x);
    int length = 0;
    while (text[960 + i / 4 + length] != 10 || length < 70)
        if (++length > 80)
            break;
    y[i] = length;
}

// right: letters changed in place, a byte a thread
__global__ void letters(const int *x, int *y, int *z)
{
    unsigned char *const text = reinterpret_cast<unsigned char *>(z);
    text[i] = static_cast<unsigned char>(text[i] ^ 32);
}

// wrong (races: race): letters changed in place, two bytes a thread that overlap
__global__ void letters_overlap(const int *x, int *y, int *z)
{
    unsigned char *const text = reinterpret_cast<unsigned char *>(z);
    text[i] = static_cast<unsigned char>(text[i] + 1);
    text[i + 1] = static_cast<unsigned char>(text[i + 1] + 1);
}

// wrong (races: race): bits of one word set by several threads
__global__ void bits_plainly(const int *x, int *y, int *z)
{
    z[i / 32] |= 1 << i % 32;
}

// right: bits of one word set by a ballot
__global__ void bits_by_ballot(const int *x, int *y, int *z)
{
    const unsigned bits = __ballot_sync(~0u, x[i] > 50);
    if (t % 32 == 0)
        z[i / 32] = int(bits);
}

// right: structures whose members other threads write
__global__ void members_apart(const int *x, int *y, int *z)
{
    __shared__ Particle particles[16];
    if (t < 48)
        particles[t / 3].place[t % 3] = x[i];
    else
        particles[t - 48].kind = x[i];
    __syncthreads();
    const Particle &own = particles[t % 16];
    y[i] = int(own.place[0] + own.place[1] + own.place[2]) + own.kind;
}

// wrong (uninitialised: uninitialised): one member is never set
__global__ void member_not_set(const int *x, int *y, int *z)
{
    __shared__ Particle particles[16];
    if (t < 48)
        particles[t / 3].place[t % 3] = x[i];
    __syncthreads();
    y[i] = int(particles[t % 16].place[0]) + particles[t % 16].kind;
}

// note (uninitialised: indifferent_read): structures with padding, copied as a whole
__global__ void padding_copied(const int *x, int *y, int *z)
{
    __shared__ Pair pairs[64];
    pairs[t].key = char(x[i]);
    pairs[t].value = x[i];
    __syncthreads();
    const Pair other = pairs[63 - t];
    y[i] = other.value + other.key;
}

// wrong (bounds: out_of_bounds): structures of 16 bytes, one for each element of four
__global__ void too_many_structures(const int *x, int *y, int *z)
{
    const Particle *const particles = reinterpret_cast<const Particle *>(x);
    y[i] = particles[i].kind;
}

// right: colours of three bytes, each by one thread
__global__ void colours(const int *x, int *y, int *z)
{
    const unsigned char *const from = reinterpret_cast<const unsigned char *>(x);
    unsigned char *const to = reinterpret_cast<unsigned char *>(y);
    for (int channel = 0; channel < 3; ++channel)
        to[3 * i + channel] = from[3 * i + 2 - channel];
}

// wrong (races: race): colours of three bytes, written by words of four
__global__ void colours_by_words(const int *x, int *y, int *z)
{
    unsigned char *const to = reinterpret_cast<unsigned char *>(y);
    for (int byte = 0; byte < 4; ++byte)
        to[3 * i + byte] = static_cast<unsigned char>(x[i] >> 8 * byte);
}

// wrong (bounds: out_of_bounds): a table of 16 letters, asked for a byte's value
__global__ void letter_of_byte(const int *x, int *y, int *z)
{
    const char letters[] = "0123456789abcdef";
    y[i] = letters[x[i] % 20];
}

// right: bytes of a word by a union
__global__ void by_union(const int *x, int *y, int *z)
{
    union {
        int word;
        unsigned char bytes[4];
    } own;
    own.word = x[i];
    y[i] = own.bytes[0] + own.bytes[3];
}
