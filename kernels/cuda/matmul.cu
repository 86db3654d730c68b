// Matrix products. Every sum is added up in one order that depends on nothing but its length, with fused
// multiply-adds, so that a loop on the CPU gives the same bits.

#define BLOCK 256
// The square of the result that a block makes, and how much of the inner axis is staged at a time.
#define SIDE 64
#define DEPTH 16
// Each thread makes a square of 4 x 4.
#define EACH 4
// Rows of a matrix that a block multiplies with a vector: one a warp.
#define ROWS (BLOCK / 32)

// c = a * b, with a of [m, k] and b of [k, n]. Each number of c is summed up by one thread, along k, from the first on.
extern "C" __global__ void __launch_bounds__(BLOCK) matmul_f32(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, u32 m, u32 n, u32 k) {
    // Padded: neighbours in a warp write a column of it.
    __shared__ float left[DEPTH][SIDE + 4];
    __shared__ float right[DEPTH][SIDE];
    const u32 thread = threadIdx.x;
    const u32 x = thread % (SIDE / EACH), y = thread / (SIDE / EACH);
    const u64 row_start = (u64)blockIdx.y * SIDE, column_start = (u64)blockIdx.x * SIDE;
    float sum[EACH][EACH] = {};
    for (u32 start = 0; start < k; start += DEPTH) {
        const u32 depth = k - start < DEPTH ? k - start : DEPTH;
        for (u32 i = thread; i < SIDE * DEPTH; i += BLOCK) {
            const u32 row = i / DEPTH, inner = i % DEPTH;
            if (row_start + row < m && inner < depth) {
                left[inner][row] = a[(row_start + row) * k + start + inner];
            }
        }
        for (u32 i = thread; i < SIDE * DEPTH; i += BLOCK) {
            const u32 inner = i / SIDE, column = i % SIDE;
            if (column_start + column < n && inner < depth) {
                right[inner][column] = b[(u64)(start + inner) * n + column_start + column];
            }
        }
        __syncthreads();
        // Up to the depth that there is: adding products of zeros would turn a sum of -0 into +0.
        for (u32 inner = 0; inner < depth; ++inner) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
#pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    sum[i][j] = fmaf(left[inner][y * EACH + i], right[inner][x * EACH + j], sum[i][j]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const u64 row = row_start + y * EACH + i, column = column_start + x * EACH + j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}

// out = weights * in for each vector of `in`: weights of [rows, width], in of [vectors, width], out of [vectors,
// rows]; or added to what is there. One warp a row. Its lane l adds up the packs l, l + 32, .. in order, and within a pack the numbers in order;
// then halves onto halves.
template <typename Number, int LANES, bool ONTO>
__device__ __forceinline__ void gemv(
    const Pack<Number, LANES>* __restrict__ weights, const Pack<F32, LANES>* __restrict__ in, float* __restrict__ out,
    u32 rows, u32 packs) {
    const u32 row = blockIdx.x * ROWS + threadIdx.x / 32;
    const u32 lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    const Pack<Number, LANES>* line = weights + (u64)row * packs;
    const Pack<F32, LANES>* vector = in + (u64)blockIdx.y * packs;
    float sum = 0.0f;
    // Unrolled so that several loads are under way before the first product waits for its own.
#pragma unroll 8
    for (u32 i = lane; i < packs; i += 32) {
        const Pack<Number, LANES> weight = line[i];
        const Pack<F32, LANES> number = vector[i];
#pragma unroll
        for (int j = 0; j < LANES; ++j) {
            sum = fmaf(Number::widen(weight.lane[j]), number.lane[j], sum);
        }
    }
    sum = sum_of_lanes(sum);
    if (lane == 0) {
        float* to = out + (u64)blockIdx.y * rows + row;
        *to = ONTO ? *to + sum : sum;
    }
}

#define GEMV(entry, Number, LANES)                                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry(                                                       \
        const Pack<Number, LANES>* weights, const Pack<F32, LANES>* in, float* out, u32 rows, u32 packs) {           \
        gemv<Number, LANES, false>(weights, in, out, rows, packs);                                                   \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry##_onto(                                                \
        const Pack<Number, LANES>* weights, const Pack<F32, LANES>* in, float* out, u32 rows, u32 packs) {           \
        gemv<Number, LANES, true>(weights, in, out, rows, packs);                                                    \
    }

GEMV(gemv_f32, F32, 4)
GEMV(gemv_f16, F16, 8)
GEMV(gemv_bf16, Bf16, 8)
// For rows that no pack fills.
GEMV(gemv_single_f32, F32, 1)
GEMV(gemv_single_f16, F16, 1)
GEMV(gemv_single_bf16, Bf16, 1)
