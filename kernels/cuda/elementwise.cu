// One row added to every row: in float, rounded once, as on the CPU.

#define BLOCK 256
// Packs that a thread has under way at a time.
#define UNROLL 4

// `in` and `out` may be the same memory: every pack is read before it is written, by the thread that writes it.
template <typename Number, int LANES>
__device__ __forceinline__ void add(
    const Pack<Number, LANES>* in, const Pack<Number, LANES>* __restrict__ row, Pack<Number, LANES>* out, u32 packs,
    Divisor width) {
    const u32 step = gridDim.x * (BLOCK * UNROLL);
    for (u32 first = blockIdx.x * (BLOCK * UNROLL) + threadIdx.x; first < packs; first += step) {
        Pack<Number, LANES> one[UNROLL], other[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            const u32 place = first + u * BLOCK;
            if (place < packs) {
                one[u] = in[place];
                other[u] = row[place - width.divide(place) * width.length];
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (first + u * BLOCK < packs) {
#pragma unroll
                for (int i = 0; i < LANES; ++i) {
                    one[u].lane[i] =
                        Number::narrow(Number::widen(one[u].lane[i]) + Number::widen(other[u].lane[i]));
                }
                out[first + u * BLOCK] = one[u];
            }
        }
    }
}

#define ADD(entry, Number, LANES)                                                                                    \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry(                                                       \
        const Pack<Number, LANES>* in, const Pack<Number, LANES>* row, Pack<Number, LANES>* out, u32 packs,          \
        u32 width, u64 magic) {                                                                                      \
        add<Number, LANES>(in, row, out, packs, Divisor(width, magic));                                              \
    }

ADD(add_f32, F32, 4)
ADD(add_f16, F16, 8)
ADD(add_bf16, Bf16, 8)
// For rows that no pack fills.
ADD(add_single_f32, F32, 1)
ADD(add_single_f16, F16, 1)
ADD(add_single_bf16, Bf16, 1)
