// Movers of bytes: expand, tile, transpose and gather. Nothing is computed, so every result is the CPU's bit for bit,
// and the type of a number does not matter, only how wide it is.
//
// The host (movement/plan.rs) turns each of the three operators into axes with a length, a distance in the source and
// one in the destination, merges axes that lie in a row, and counts in the widest words that the distances allow: one
// instruction then moves up to 16 bytes instead of two.

#define BLOCK 256
// Words that a thread has under way at a time: one would not keep the memory busy.
#define UNROLL 4
#define MOST_AXES 16
// Words of metadata for an axis: length, distance in the source, in the destination, and the multiplier for dividing.
#define AXIS_WORDS 4

// Indices of 32 bits, where dividing is cheap.
struct Narrow {
    typedef u32 Index;
    struct Axis {
        Divisor length;
        u32 from, to;
    };
    static __device__ __forceinline__ Axis read(const u64* words) {
        Axis axis;
        axis.length = Divisor((u32)words[0], words[3]);
        axis.from = (u32)words[1];
        axis.to = (u32)words[2];
        return axis;
    }
    static __device__ __forceinline__ u32 divide(u32 index, const Axis& axis) { return axis.length.divide(index); }
    static __device__ __forceinline__ u32 length(const Axis& axis) { return axis.length.length; }
};

// Indices of 64 bits, for what 32 do not reach.
struct Wide {
    typedef u64 Index;
    struct Axis {
        u64 length, from, to;
    };
    static __device__ __forceinline__ Axis read(const u64* words) {
        Axis axis;
        axis.length = words[0];
        axis.from = words[1];
        axis.to = words[2];
        return axis;
    }
    static __device__ __forceinline__ u64 divide(u64 index, const Axis& axis) { return index / axis.length; }
    static __device__ __forceinline__ u64 length(const Axis& axis) { return axis.length; }
};

// A word as it is.
template <typename Word>
struct Same {
    typedef Word From;
    typedef Word To;
    static __device__ __forceinline__ To make(From word) { return word; }
};

// A word that fills 16 bytes: the innermost axis of the source is repeated.
template <typename Word>
struct Spread {
    typedef Word From;
    typedef uint4 To;
    static __device__ __forceinline__ To make(From word);
};
template <>
__device__ __forceinline__ uint4 Spread<u8>::make(u8 word) {
    const u32 four = word * 0x01010101u;
    return make_uint4(four, four, four, four);
}
template <>
__device__ __forceinline__ uint4 Spread<u16>::make(u16 word) {
    const u32 two = word * 0x00010001u;
    return make_uint4(two, two, two, two);
}
template <>
__device__ __forceinline__ uint4 Spread<u32>::make(u32 word) {
    return make_uint4(word, word, word, word);
}
template <>
__device__ __forceinline__ uint4 Spread<u64>::make(u64 word) {
    const u32 low = (u32)word, high = (u32)(word >> 32);
    return make_uint4(low, high, low, high);
}

// Walks all axes; each word is loaded once and stored `copies` times, `copy_distance` apart. The copies are one axis
// along which the source does not move: walking it like the others would load a large source again for each of its
// steps.
template <typename Move, typename Width>
__device__ __forceinline__ void strided(
    const typename Move::From* __restrict__ in, typename Move::To* __restrict__ out, const u64* __restrict__ metadata,
    u32 rank, u64 words, u64 copies, u64 copy_distance) {
    typedef typename Width::Index Index;
    __shared__ typename Width::Axis axes[MOST_AXES];
    if (threadIdx.x < rank) {
        axes[threadIdx.x] = Width::read(metadata + AXIS_WORDS * threadIdx.x);
    }
    __syncthreads();
    const Index count = (Index)words;
    const Index step = (Index)gridDim.x * (BLOCK * UNROLL);
    for (Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x; first < count; first += step) {
        Index rest[UNROLL], from[UNROLL], to[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            rest[u] = first + u * BLOCK;
            from[u] = 0;
            to[u] = 0;
        }
        for (int i = (int)rank - 1; i > 0; --i) {
            const typename Width::Axis axis = axes[i];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                const Index outer = Width::divide(rest[u], axis);
                const Index place = rest[u] - outer * Width::length(axis);
                from[u] += place * axis.from;
                to[u] += place * axis.to;
                rest[u] = outer;
            }
        }
        typename Move::To word[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            from[u] += rest[u] * axes[0].from;
            to[u] += rest[u] * axes[0].to;
            if (first + u * BLOCK < count) {
                word[u] = Move::make(in[from[u]]);
            }
        }
        for (Index copy = blockIdx.y; copy < (Index)copies; copy += gridDim.y) {
            const Index start = copy * (Index)copy_distance;
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                if (first + u * BLOCK < count) {
                    out[start + to[u]] = word[u];
                }
            }
        }
    }
}

#define STRIDED(entry, Move, Width)                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry(                                                       \
        const Move::From* in, Move::To* out, const u64* metadata, u32 rank, u64 words, u64 copies,                   \
        u64 copy_distance) {                                                                                         \
        strided<Move, Width>(in, out, metadata, rank, words, copies, copy_distance);                                 \
    }

STRIDED(strided_1, Same<u8>, Narrow)
STRIDED(strided_2, Same<u16>, Narrow)
STRIDED(strided_4, Same<u32>, Narrow)
STRIDED(strided_8, Same<u64>, Narrow)
STRIDED(strided_16, Same<uint4>, Narrow)
STRIDED(strided_wide_1, Same<u8>, Wide)
STRIDED(strided_wide_2, Same<u16>, Wide)
STRIDED(strided_wide_4, Same<u32>, Wide)
STRIDED(strided_wide_8, Same<u64>, Wide)
STRIDED(strided_wide_16, Same<uint4>, Wide)
STRIDED(spread_1, Spread<u8>, Narrow)
STRIDED(spread_2, Spread<u16>, Narrow)
STRIDED(spread_4, Spread<u32>, Narrow)
STRIDED(spread_8, Spread<u64>, Narrow)

// Where a batch of a transposition starts.
__device__ __forceinline__ void batch_start(const u64* metadata, u32 rank, u64 batch, u64& from, u64& to) {
    from = 0;
    to = 0;
    for (int i = (int)rank - 1; i >= 0; --i) {
        const u64* axis = metadata + AXIS_WORDS * i;
        const u64 place = batch % axis[0];
        batch /= axis[0];
        from += place * axis[1];
        to += place * axis[2];
    }
}

// Threads of a transposition: with half of them, each with twice the words, large ones reached 0.73 of a copy's speed
// instead of 0.93 (H200, 8192 x 8192 of four bytes).
#define TILE_BLOCK 512

// A tile of a transposition: it is read along `a` into shared memory and written along `b`, so that both sides of the
// memory see whole rows. Where the tile is `WHOLE` nothing is asked before a load, and all of a thread's are under way
// at once.
template <bool WHOLE, typename Word, int TILE, int PITCH>
__device__ __forceinline__ void tile_of(
    const Word* __restrict__ source, Word* __restrict__ target, Word (*square)[PITCH], u64 a_left, u64 b_left,
    u64 b_from, u64 a_to) {
    const int ROWS = TILE_BLOCK / TILE;
    const int STEPS = TILE / ROWS;
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    Word word[STEPS];
    source += x + y * b_from;
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
        if (WHOLE || (x < a_left && y + i * ROWS < b_left)) {
            word[i] = source[(u64)(i * ROWS) * b_from];
        }
    }
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
        square[y + i * ROWS][x] = word[i];
    }
    __syncthreads();
    target += x + y * a_to;
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
        if (WHOLE || (x < b_left && y + i * ROWS < a_left)) {
            target[(u64)(i * ROWS) * a_to] = square[x][y + i * ROWS];
        }
    }
    __syncthreads();
}

// A transposition of two axes: `a` lies in a row in the source, `b` in the destination.
template <typename Word, int TILE>
__device__ __forceinline__ void tiles(
    const Word* __restrict__ in, Word* __restrict__ out, const u64* __restrict__ metadata, u32 rank, u64 batches, u64 a,
    u64 b, u64 b_from, u64 a_to) {
    // One more bank for each row: a column would otherwise lie in a single one.
    const int PITCH = TILE + (sizeof(Word) >= 4 ? 1 : 4 / sizeof(Word));
    __shared__ Word square[TILE][PITCH];
    const u64 a_start = (u64)blockIdx.x * TILE;
    for (u64 batch = blockIdx.z; batch < batches; batch += gridDim.z) {
        u64 from, to;
        batch_start(metadata, rank, batch, from, to);
        for (u64 b_start = (u64)blockIdx.y * TILE; b_start < b; b_start += (u64)gridDim.y * TILE) {
            const Word* source = in + from + a_start + b_start * b_from;
            Word* target = out + to + b_start + a_start * a_to;
            const u64 a_left = a - a_start, b_left = b - b_start;
            if (a_left >= TILE && b_left >= TILE) {
                tile_of<true, Word, TILE, PITCH>(source, target, square, a_left, b_left, b_from, a_to);
            } else {
                tile_of<false, Word, TILE, PITCH>(source, target, square, a_left, b_left, b_from, a_to);
            }
        }
    }
}

#define TILES(entry, Word, TILE)                                                                                     \
    extern "C" __global__ void __launch_bounds__(TILE_BLOCK) entry(                                                  \
        const Word* in, Word* out, const u64* metadata, u32 rank, u64 batches, u64 a, u64 b, u64 b_from, u64 a_to) { \
        tiles<Word, TILE>(in, out, metadata, rank, batches, a, b, b_from, a_to);                                     \
    }

TILES(tiles_1, u8, 64)
TILES(tiles_2, u16, 64)
TILES(tiles_4, u32, 64)
TILES(tiles_8, u64, 32)
TILES(tiles_16, uint4, 32)

// The same for numbers of two bytes, read two at a time: all lengths and distances are even, and are given and counted
// in pairs. A tile has as many bytes in a row as one of wider words: 64 numbers along `a`, 128 along `b`.
#define PAIRS_A 32
#define PAIRS_B 128

template <bool WHOLE>
__device__ __forceinline__ void tile_of_pairs(
    const u32* __restrict__ source, u16* __restrict__ target, u16 (*tile)[2 * PAIRS_A + 2], u64 pairs_left, u64 b_left,
    u64 b_from, u64 a_to) {
    const int ROWS = TILE_BLOCK / PAIRS_A, COLUMNS = TILE_BLOCK / PAIRS_B;
    const u32 pair = threadIdx.x % PAIRS_A, row = threadIdx.x / PAIRS_A;
    const u32 x = threadIdx.x % PAIRS_B, y = threadIdx.x / PAIRS_B;
    u32 word[PAIRS_B / ROWS];
    source += pair + row * b_from;
#pragma unroll
    for (int i = 0; i < PAIRS_B / ROWS; ++i) {
        if (WHOLE || (pair < pairs_left && row + i * ROWS < b_left)) {
            word[i] = source[(u64)(i * ROWS) * b_from];
        }
    }
#pragma unroll
    for (int i = 0; i < PAIRS_B / ROWS; ++i) {
        tile[row + i * ROWS][2 * pair] = (u16)word[i];
        tile[row + i * ROWS][2 * pair + 1] = (u16)(word[i] >> 16);
    }
    __syncthreads();
    target += x + y * a_to;
    const u64 step = COLUMNS * a_to;
#pragma unroll
    for (int i = 0; i < 2 * PAIRS_A / COLUMNS; ++i) {
        if (WHOLE || (x < b_left && y + i * COLUMNS < 2 * pairs_left)) {
            *target = tile[x][y + i * COLUMNS];
        }
        target += step;
    }
    __syncthreads();
}

// Three blocks to a multiprocessor at least: left to itself, the compiler takes so many registers that there is one.
extern "C" __global__ void __launch_bounds__(TILE_BLOCK, 3) tiles_of_pairs(
    const u32* __restrict__ in, u16* __restrict__ out, const u64* __restrict__ metadata, u32 rank, u64 batches, u64 a,
    u64 b, u64 b_from, u64 a_to) {
    // A row is an odd number of banks, so that the numbers of a column are in different ones.
    __shared__ u16 tile[PAIRS_B][2 * PAIRS_A + 2];
    const u64 a_start = (u64)blockIdx.x * PAIRS_A;
    b *= 2;
    a_to *= 2;
    // `b_from` stays in pairs: the source is read in them.
    for (u64 batch = blockIdx.z; batch < batches; batch += gridDim.z) {
        u64 from, to;
        batch_start(metadata, rank, batch, from, to);
        for (u64 b_start = (u64)blockIdx.y * PAIRS_B; b_start < b; b_start += (u64)gridDim.y * PAIRS_B) {
            const u32* source = in + from + a_start + b_start * b_from;
            u16* target = out + 2 * to + b_start + 2 * a_start * a_to;
            const u64 pairs_left = a - a_start, b_left = b - b_start;
            if (pairs_left >= PAIRS_A && b_left >= PAIRS_B) {
                tile_of_pairs<true>(source, target, tile, pairs_left, b_left, b_from, a_to);
            } else {
                tile_of_pairs<false>(source, target, tile, pairs_left, b_left, b_from, a_to);
            }
        }
    }
}

// Rows of a table. An index that is no row gives zeros and a violation.
template <typename Word>
__device__ __forceinline__ void gather(
    const Word* __restrict__ table, const u32* __restrict__ indices, Word* __restrict__ out, u32* latch, u32 rows,
    u32 words, Divisor width) {
    const u32 step = gridDim.x * (BLOCK * UNROLL);
    for (u32 first = blockIdx.x * (BLOCK * UNROLL) + threadIdx.x; first < words; first += step) {
        Word word[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            const u32 place = first + u * BLOCK;
            if (place < words) {
                const u32 row = width.divide(place);
                const u32 index = indices[row];
                if (index < rows) {
                    word[u] = table[(u64)index * width.length + (place - row * width.length)];
                } else {
                    word[u] = Word();
                    atomicOr(latch, WRONG_INDEX);
                }
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (first + u * BLOCK < words) {
                out[first + u * BLOCK] = word[u];
            }
        }
    }
}

#define GATHER(entry, Word)                                                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK) entry(                                                       \
        const Word* table, const u32* indices, Word* out, u32* latch, u32 rows, u32 words, u32 width, u64 magic) {   \
        gather<Word>(table, indices, out, latch, rows, words, Divisor(width, magic));                                \
    }

GATHER(gather_1, u8)
GATHER(gather_2, u16)
GATHER(gather_4, u32)
GATHER(gather_8, u64)
GATHER(gather_16, uint4)
