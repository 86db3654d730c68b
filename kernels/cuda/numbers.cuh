// What every file here stands on: it is put in front of each of them before it is compiled. No header of the toolkit is
// included anywhere, so that the compiler library alone is enough at run time.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Numbers as they are stored, and as they are computed with: always float, rounded once on the way back, to nearest
// with ties to even.
struct F32 {
    typedef float Stored;
    static __device__ __forceinline__ float widen(float stored) { return stored; }
    static __device__ __forceinline__ float narrow(float number) { return number; }
};

struct F16 {
    typedef u16 Stored;
    static __device__ __forceinline__ float widen(u16 stored) {
        float number;
        asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(stored));
        return number;
    }
    static __device__ __forceinline__ u16 narrow(float number) {
        u16 stored;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored) : "f"(number));
        return stored;
    }
};

struct Bf16 {
    typedef u16 Stored;
    static __device__ __forceinline__ float widen(u16 stored) { return __uint_as_float((u32)stored << 16); }
    static __device__ __forceinline__ u16 narrow(float number) {
        u16 stored;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(stored) : "f"(number));
        return stored;
    }
};

// Neighbours that are loaded and stored together. Memory is promised to lie at multiples of 16 bytes and no more
// (device/buffer.rs), so wider ones are several loads.
template <typename Number, int LANES>
struct alignas(sizeof(typename Number::Stored) * LANES < 16 ? sizeof(typename Number::Stored) * LANES : 16) Pack {
    typename Number::Stored lane[LANES];
};

// Division by a number that stays the same, as a multiplication (Granlund and Montgomery, 1994). The host makes the
// multiplier (device/division.rs); right for dividends below 2^31.
struct Divisor {
    u32 length, multiplier, shift;
    // Trivial, so that it can lie in shared memory.
    Divisor() = default;
    __device__ __forceinline__ Divisor(u32 length, u64 magic)
        : length(length), multiplier((u32)magic), shift((u32)(magic >> 32)) {}
    __device__ __forceinline__ u32 divide(u32 number) const {
        return (__umulhi(number, multiplier) + number) >> shift;
    }
};

#define EVERY_LANE 0xffffffffu
#define MINUS_INFINITY __uint_as_float(0xff800000u)

// The upper half of the lanes onto the lower half until one is left: the tree of ops/lanes.rs. Every lane gets the same
// result, because the sum of two numbers does not depend on which comes first.
__device__ __forceinline__ float sum_of_lanes(float number) {
    for (int half = 16; half > 0; half /= 2) {
        number = number + __shfl_xor_sync(EVERY_LANE, number, half);
    }
    return number;
}

// NaN is passed over.
__device__ __forceinline__ float max_of_lanes(float number) {
    for (int half = 16; half > 0; half /= 2) {
        number = fmaxf(number, __shfl_xor_sync(EVERY_LANE, number, half));
    }
    return number;
}

__device__ __forceinline__ float power_of_two(int exponent) { return __int_as_float((exponent + 127) << 23); }

// e to the x: the method of Cephes (Moshier, 1989), within 2e-7 of the true one, written with nothing but operations
// that a CPU rounds the same way, so that it can be mirrored bit for bit.
__device__ __forceinline__ float exponential(float x) {
    if (x < -104.0f) {
        return 0.0f;
    }
    if (x > 89.0f) {
        return __uint_as_float(0x7f800000u);
    }
    const float whole = rintf(x * 1.44269504f);
    float rest = fmaf(whole, -0.693359375f, x);
    rest = fmaf(whole, 2.12194440e-4f, rest);
    float series = 1.9875691500e-4f;
    series = fmaf(series, rest, 1.3981999507e-3f);
    series = fmaf(series, rest, 8.3334519073e-3f);
    series = fmaf(series, rest, 4.1665795894e-2f);
    series = fmaf(series, rest, 1.6666665459e-1f);
    series = fmaf(series, rest, 5.0000001201e-1f);
    series = fmaf(series, rest * rest, rest) + 1.0f;
    // In two steps: one power of two alone does not reach the subnormal results.
    const int exponent = (int)whole;
    const int half = exponent >> 1;
    return series * power_of_two(half) * power_of_two(exponent - half);
}

// What a kernel found wrong while nobody could be told: it is ORed into one word that the host reads with the next
// token (device/latch.rs has the same numbers).
#define WRONG_INDEX 1u
#define NO_NUMBER 2u
#define WRONG_POSITION 4u
