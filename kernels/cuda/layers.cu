// What a decoder's layers do beside products, norms and attention: a token's vector, SwiGLU, linear attention.

#define BLOCK 256

// One row of a table, widened. No row gives zeros and a violation.
template <typename Number>
__device__ __forceinline__ void embed(
    const typename Number::Stored* __restrict__ table, const u32* __restrict__ index, float* out, u32* latch, u32 rows,
    u32 width) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    const u32 row = *index;
    if (row >= rows && i == 0) {
        atomicOr(latch, WRONG_INDEX);
    }
    if (i < width) {
        out[i] = row < rows ? Number::widen(table[(u64)row * width + i]) : 0.0f;
    }
}

__device__ __forceinline__ float sigmoid(float number) { return 1.0f / (1.0f + exponential(-number)); }

// SwiGLU (Shazeer, 2020) of gates and, behind them, what they let through.
extern "C" __global__ void __launch_bounds__(BLOCK) swiglu(const float* __restrict__ both, float* out, u32 width) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < width) {
        const float gate = both[i];
        out[i] = gate / (1.0f + exponential(-gate)) * both[width + i];
    }
}

// Columns of a head that a block reads the memory of, and how many warps share its rows: many, because there are few
// blocks.
#define COLUMNS 32
#define WARPS 32
#define THREADS (COLUMNS * WARPS)
// Rows that a thread has under way at a time.
#define EACH 4

// Linear attention of one token over what a head remembers, one matrix of [length, length]: forgets, adds a key times a
// value, and reads with a query. Row i of a column goes to the sum i mod 32, in order; then the sums are added up in order.
extern "C" __global__ void __launch_bounds__(THREADS) remember(
    const float* __restrict__ queries, const float* __restrict__ keys, const float* __restrict__ values,
    const float* __restrict__ decays, float* memory, float* __restrict__ out, u32 length) {
    __shared__ float sums[WARPS][COLUMNS];
    const u32 lane = threadIdx.x % COLUMNS, warp = threadIdx.x / COLUMNS;
    const u32 head = blockIdx.y, column = blockIdx.x * COLUMNS + lane;
    float sum = 0.0f;
    if (column < length) {
        const u64 start = (u64)head * length * length + column;
        for (u32 first = warp; first < length; first += WARPS * EACH) {
            float number[EACH];
            // All loads before the first store, so that they are under way together.
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const u32 row = first + i * WARPS;
                if (row < length) {
                    const u64 place = start + (u64)row * length;
                    number[i] = memory[place] * sigmoid(decays[place]) + keys[place] * values[place];
                }
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const u32 row = first + i * WARPS;
                if (row < length) {
                    memory[start + (u64)row * length] = number[i];
                    sum += queries[(u64)head * length + row] * number[i];
                }
            }
        }
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < length) {
        float total = 0.0f;
        for (int i = 0; i < WARPS; ++i) {
            total += sums[i][lane];
        }
        out[(u64)head * length + column] = total;
    }
}

#define EMBED(name, Number)                                                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK) embed_##name(                                                \
        const Number::Stored* table, const u32* index, float* out, u32* latch, u32 rows, u32 width) {                \
        embed<Number>(table, index, out, latch, rows, width);                                                        \
    }

EMBED(f32, F32)
EMBED(f16, F16)
EMBED(bf16, Bf16)
