// Reductions of rows, one block a row, in the fixed order of ops/lanes.rs: place i goes to partial sum i mod 32, in
// order, then halves onto halves. The order depends on nothing but the length, so results are the CPU's bit for bit,
// except where an exponential is in it.

#define BLOCK 256
#define WARPS (BLOCK / 32)
// Most threads of a block that keeps a row, and how many numbers of it each keeps at most.
#define WIDE_BLOCK 1024
#define KEPT 4
// Terms that are staged at a time; a multiple of 32, so that a place keeps its partial sum.
#define TILE 2048

// The sum of the terms of a row, in every thread. The whole block makes the terms, as the memory wants it; one warp
// adds them up, as the order wants it.
template <typename Number, typename Term>
__device__ __forceinline__ float sum_of_row(const typename Number::Stored* row, u64 width, Term term) {
    __shared__ float terms[TILE];
    __shared__ float result;
    const u32 thread = threadIdx.x;
    float sum = 0.0f;
    for (u64 start = 0; start < width; start += TILE) {
        const u32 length = width - start < TILE ? (u32)(width - start) : TILE;
        for (u32 i = thread; i < length; i += BLOCK) {
            terms[i] = term(Number::widen(row[start + i]));
        }
        __syncthreads();
        if (thread < 32) {
            for (u32 i = thread; i < length; i += 32) {
                sum += terms[i];
            }
        }
        __syncthreads();
    }
    if (thread < 32) {
        sum = sum_of_lanes(sum);
        if (thread == 0) {
            result = sum;
        }
    }
    __syncthreads();
    return result;
}

// The largest number of a row, in every thread; NaN is passed over. No order matters here.
template <typename Number>
__device__ __forceinline__ float max_of_row(const typename Number::Stored* row, u64 width) {
    __shared__ float of_warps[WARPS];
    float max = MINUS_INFINITY;
    for (u64 i = threadIdx.x; i < width; i += BLOCK) {
        max = fmaxf(max, Number::widen(row[i]));
    }
    max = max_of_lanes(max);
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = max;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) {
        max = fmaxf(max, of_warps[warp]);
    }
    return max;
}

struct Itself {
    __device__ __forceinline__ float operator()(float number) const { return number; }
};
struct Square {
    __device__ __forceinline__ float operator()(float number) const { return number * number; }
};
struct Exponential {
    float max;
    __device__ __forceinline__ float operator()(float number) const { return exponential(number - max); }
};

template <typename Number>
__device__ __forceinline__ void reduce_mean(
    const typename Number::Stored* in, typename Number::Stored* out, u64 width) {
    const float sum = sum_of_row<Number>(in + blockIdx.x * width, width, Itself());
    if (threadIdx.x == 0) {
        out[blockIdx.x] = Number::narrow(sum / (float)width);
    }
}

template <typename Number>
__device__ __forceinline__ void rms_norm(
    const typename Number::Stored* in, const typename Number::Stored* __restrict__ weight, typename Number::Stored* out,
    u64 width, float epsilon) {
    in += blockIdx.x * width;
    out += blockIdx.x * width;
    const float sum = sum_of_row<Number>(in, width, Square());
    const float scale = 1.0f / sqrtf(sum / (float)width + epsilon);
    for (u64 i = threadIdx.x; i < width; i += BLOCK) {
        out[i] = Number::narrow(Number::widen(in[i]) * scale * Number::widen(weight[i]));
    }
}

// The same of a row that a block can keep: it is read once, with the weights, while nobody waits.
template <typename Number>
__device__ __forceinline__ void rms_norm_kept(
    const typename Number::Stored* in, const typename Number::Stored* __restrict__ weight, typename Number::Stored* out,
    u32 width, float epsilon) {
    __shared__ float squares[KEPT * WIDE_BLOCK];
    __shared__ float scale;
    in += (u64)blockIdx.x * width;
    out += (u64)blockIdx.x * width;
    const u32 thread = threadIdx.x;
    float numbers[KEPT], weights[KEPT];
#pragma unroll
    for (int u = 0; u < KEPT; ++u) {
        const u32 i = thread + u * blockDim.x;
        if (i < width) {
            numbers[u] = Number::widen(in[i]);
            weights[u] = Number::widen(weight[i]);
        }
    }
#pragma unroll
    for (int u = 0; u < KEPT; ++u) {
        const u32 i = thread + u * blockDim.x;
        if (i < width) {
            squares[i] = numbers[u] * numbers[u];
        }
    }
    __syncthreads();
    if (thread < 32) {
        float sum = 0.0f;
#pragma unroll 16
        for (u32 i = thread; i < width; i += 32) {
            sum += squares[i];
        }
        sum = sum_of_lanes(sum);
        if (thread == 0) {
            scale = 1.0f / sqrtf(sum / (float)width + epsilon);
        }
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < KEPT; ++u) {
        const u32 i = thread + u * blockDim.x;
        if (i < width) {
            out[i] = Number::narrow(numbers[u] * scale * weights[u]);
        }
    }
}

template <typename Number>
__device__ __forceinline__ void softmax(const typename Number::Stored* in, typename Number::Stored* out, u64 width) {
    in += blockIdx.x * width;
    out += blockIdx.x * width;
    Exponential term;
    term.max = max_of_row<Number>(in, width);
    const float sum = sum_of_row<Number>(in, width, term);
    for (u64 i = threadIdx.x; i < width; i += BLOCK) {
        out[i] = Number::narrow(term(Number::widen(in[i])) / sum);
    }
}

// A number and its index as one word that is the larger, the larger the number is, and among equal ones the lower the
// index is. Zero for NaN, which is below minus infinity then.
__device__ __forceinline__ u64 ranked(float number, u32 index) {
    if (number != number) {
        return 0;
    }
    // Both zeros are equal: adding zero makes one of them.
    const u32 bits = __float_as_uint(number + 0.0f);
    const u32 ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (u64)ordered << 32 | (0xffffffffu - index);
}

// The largest of all threads, in the first one.
__device__ __forceinline__ u64 max_of_block(u64 max) {
    __shared__ u64 of_warps[WARPS];
    for (int half = 16; half > 0; half /= 2) {
        const u64 other = __shfl_xor_sync(EVERY_LANE, max, half);
        max = other > max ? other : max;
    }
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = max;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) {
        max = of_warps[warp] > max ? of_warps[warp] : max;
    }
    return max;
}

// One block cannot read a vocabulary fast enough: several look at parts of a row, then one at what they found.
template <typename Number>
__device__ __forceinline__ void argmax_of_parts(const typename Number::Stored* in, u64* found, u32 width) {
    in += (u64)blockIdx.y * width;
    u64 max = 0;
    for (u32 i = blockIdx.x * BLOCK + threadIdx.x; i < width; i += gridDim.x * BLOCK) {
        const u64 here = ranked(Number::widen(in[i]), i);
        max = here > max ? here : max;
    }
    max = max_of_block(max);
    if (threadIdx.x == 0) {
        found[(u64)blockIdx.y * gridDim.x + blockIdx.x] = max;
    }
}

// A row without a number gives index 0 and a violation.
extern "C" __global__ void __launch_bounds__(BLOCK) argmax(const u64* found, u32* out, u32* latch, u32 parts) {
    u64 max = 0;
    for (u32 i = threadIdx.x; i < parts; i += BLOCK) {
        const u64 here = found[(u64)blockIdx.x * parts + i];
        max = here > max ? here : max;
    }
    max = max_of_block(max);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = max == 0 ? 0 : 0xffffffffu - (u32)max;
        if (max == 0) {
            atomicOr(latch, NO_NUMBER);
        }
    }
}

#define REDUCTIONS(name, Number)                                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK) reduce_mean_##name(                                          \
        const Number::Stored* in, Number::Stored* out, u64 width) {                                                  \
        reduce_mean<Number>(in, out, width);                                                                         \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK) rms_norm_##name(                                             \
        const Number::Stored* in, const Number::Stored* weight, Number::Stored* out, u64 width, float epsilon) {     \
        rms_norm<Number>(in, weight, out, width, epsilon);                                                           \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(WIDE_BLOCK) rms_norm_kept_##name(                                   \
        const Number::Stored* in, const Number::Stored* weight, Number::Stored* out, u32 width, float epsilon) {     \
        rms_norm_kept<Number>(in, weight, out, width, epsilon);                                                      \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK) softmax_##name(                                              \
        const Number::Stored* in, Number::Stored* out, u64 width) {                                                  \
        softmax<Number>(in, out, width);                                                                             \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK) argmax_of_parts_##name(                                      \
        const Number::Stored* in, u64* found, u32 width) {                                                           \
        argmax_of_parts<Number>(in, found, width);                                                                   \
    }

REDUCTIONS(f32, F32)
REDUCTIONS(f16, F16)
REDUCTIONS(bf16, Bf16)
