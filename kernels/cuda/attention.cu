// What a decoder does with one new token: turn it by its position, keep its key and value, attend to all positions so
// far. The position is read from device memory and never a parameter, so that one recording serves every step.

#define BLOCK 128
// Positions that a block attends to: one for each lane of a warp.
#define CHUNK 32
#define LONGEST_HEAD 256

// Rotary embedding: the angles come from the CPU, so every device turns by the same numbers. In and out may be the
// same.
extern "C" __global__ void __launch_bounds__(BLOCK) rope(
    const float* in, float* out, const float* __restrict__ cosines, const float* __restrict__ sines,
    const u32* __restrict__ position, u32* latch, u32 pairs, u32 half, u32 positions, u32 halves) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    const u32 at = *position;
    if (at >= positions) {
        if (i == 0) {
            atomicOr(latch, WRONG_POSITION);
        }
        return;
    }
    if (i >= pairs) {
        return;
    }
    const u32 head = i / half, pair = i % half;
    const u32 start = head * 2 * half;
    const u32 one = start + (halves ? pair : 2 * pair);
    const u32 other = start + (halves ? pair + half : 2 * pair + 1);
    const float cosine = cosines[(u64)at * half + pair], sine = sines[(u64)at * half + pair];
    const float x = in[one], y = in[other];
    out[one] = x * cosine - y * sine;
    out[other] = x * sine + y * cosine;
}

// Keeps a new row at its position.
template <typename Number>
__device__ __forceinline__ void append(
    const float* __restrict__ fresh, typename Number::Stored* cache, const u32* __restrict__ position, u32* latch,
    u32 width, u32 capacity) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    const u32 at = *position;
    if (at >= capacity) {
        if (i == 0) {
            atomicOr(latch, WRONG_POSITION);
        }
        return;
    }
    if (i < width) {
        cache[(u64)at * width + i] = Number::narrow(fresh[i]);
    }
}

// The next position.
extern "C" __global__ void advance(u32* position) { *position += 1; }

// Attention of one head over one chunk of positions (the division of Dao et al., 2023): its largest score, the sum of
// the weights relative to it, and the values by weight, not yet divided. Chunks beyond the position end at once:
// their number follows from the capacity, because the position is not known to whoever launches or records this.
template <typename Number, int LANES>
__device__ __forceinline__ void attend(
    const float* __restrict__ queries, const Pack<Number, LANES>* __restrict__ keys,
    const Pack<Number, LANES>* __restrict__ values, const u32* __restrict__ position, float* __restrict__ sums,
    float2* __restrict__ peaks, u32* latch, u32 kv_heads, u32 length, u32 capacity, float scale) {
    __shared__ float query[LONGEST_HEAD];
    __shared__ float weights[CHUNK];
    extern __shared__ uint4 staged[];
    const u32 thread = threadIdx.x;
    const u32 head = blockIdx.y, heads = gridDim.y;
    const u32 chunk = blockIdx.x, chunks = gridDim.x;
    const u32 last = *position;
    if (last >= capacity) {
        if (head == 0 && chunk == 0 && thread == 0) {
            atomicOr(latch, WRONG_POSITION);
        }
        return;
    }
    const u32 first = chunk * CHUNK;
    if (first > last) {
        return;
    }
    const u32 count = last - first < CHUNK ? last - first + 1 : CHUNK;
    const u32 kv_head = (u32)((u64)head * kv_heads / heads);
    const u32 packs = length / LANES;
    const u64 pitch = (u64)kv_heads * packs;
    const u64 start = (u64)first * pitch + (u64)kv_head * packs;
    for (u32 i = thread; i < length; i += BLOCK) {
        query[i] = queries[(u64)head * length + i];
    }
    __syncthreads();
    // One warp scores while the others fetch the values, so that both waits for memory are one.
    if (thread < CHUNK) {
        float score = MINUS_INFINITY;
        if (thread < count) {
            const Pack<Number, LANES>* key = keys + start + thread * pitch;
            float dot = 0.0f;
#pragma unroll 4
            for (u32 i = 0; i < packs; ++i) {
                const Pack<Number, LANES> pack = key[i];
#pragma unroll
                for (int j = 0; j < LANES; ++j) {
                    dot += query[i * LANES + j] * Number::widen(pack.lane[j]);
                }
            }
            score = dot * scale;
        }
        const float peak = max_of_lanes(score);
        const float weight = thread < count ? exponential(score - peak) : 0.0f;
        const float sum = sum_of_lanes(weight);
        weights[thread] = weight;
        if (thread == 0) {
            peaks[(u64)head * chunks + chunk] = make_float2(peak, sum);
        }
    } else {
        Pack<Number, LANES>* to = (Pack<Number, LANES>*)staged;
        for (u32 i = thread - CHUNK; i < count * packs; i += BLOCK - CHUNK) {
            const u32 row = i / packs;
            to[i] = values[start + row * pitch + (i - row * packs)];
        }
    }
    __syncthreads();
    const typename Number::Stored* value = (const typename Number::Stored*)staged;
    for (u32 j = thread; j < length; j += BLOCK) {
        float sum = 0.0f;
        for (u32 i = 0; i < count; ++i) {
            sum = fmaf(weights[i], Number::widen(value[i * length + j]), sum);
        }
        sums[((u64)head * chunks + chunk) * length + j] = sum;
    }
}

// The chunks of a head, one after the other, relative to the largest score of all.
extern "C" __global__ void __launch_bounds__(BLOCK) attention(
    const float* __restrict__ sums, const float2* __restrict__ peaks, const u32* __restrict__ position,
    float* __restrict__ out, u32 chunks, u32 length, u32 capacity) {
    const u32 head = blockIdx.x;
    const u32 last = *position;
    if (last >= capacity) {
        return;
    }
    const u32 used = last / CHUNK + 1;
    const float2* peak = peaks + (u64)head * chunks;
    const float* sum = sums + (u64)head * chunks * length;
    float highest = MINUS_INFINITY;
    for (u32 i = 0; i < used; ++i) {
        highest = fmaxf(highest, peak[i].x);
    }
    for (u32 j = threadIdx.x; j < length; j += BLOCK) {
        float total = 0.0f, numbers = 0.0f;
        for (u32 i = 0; i < used; ++i) {
            const float weight = exponential(peak[i].x - highest);
            total = fmaf(peak[i].y, weight, total);
            numbers = fmaf(sum[(u64)i * length + j], weight, numbers);
        }
        out[(u64)head * length + j] = numbers / total;
    }
}

#define ATTEND(entry, Number, LANES)                                                                                 \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry(                                                       \
        const float* queries, const Pack<Number, LANES>* keys, const Pack<Number, LANES>* values,                    \
        const u32* position, float* sums, float2* peaks, u32* latch, u32 kv_heads, u32 length, u32 capacity,         \
        float scale) {                                                                                               \
        attend<Number, LANES>(                                                                                       \
            queries, keys, values, position, sums, peaks, latch, kv_heads, length, capacity, scale);                 \
    }

#define CACHE(name, Number, LANES)                                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK) append_##name(                                               \
        const float* fresh, Number::Stored* cache, const u32* position, u32* latch, u32 width, u32 capacity) {       \
        append<Number>(fresh, cache, position, latch, width, capacity);                                              \
    }                                                                                                                \
    ATTEND(attend_##name, Number, LANES)                                                                             \
    ATTEND(attend_single_##name, Number, 1)

CACHE(f32, F32, 4)
CACHE(f16, F16, 8)
CACHE(bf16, Bf16, 8)
