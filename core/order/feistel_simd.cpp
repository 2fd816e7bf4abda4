// The Feistel bijection in vector lanes: the same values as feistel_permute, 16 to 64 slots at a time.
//
// Both parts of a value fit 32-bit lanes for every n, so one kernel serves all sizes; the parts are joined to 64 bits on
// output. Values that are out of range are pushed with their output positions onto a small stack, which is processed one
// full group at a time, so that lanes stay full until the end of the call. One file, because all of it is compiled once
// for each target.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/feistel.h"

#include "core/order/orders.h"

#define HWY_TARGET_INCLUDE "core/order/feistel_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
namespace {
using D32 = hn::ScalableTag<uint32_t>;
using V32 = hn::Vec<D32>;
using M32 = hn::Mask<D32>;

constexpr int64_t kLanes = HWY_LANES(uint32_t);
// Vectors whose rounds are interleaved, to hide the latency of the multiplications.
constexpr int kVectors = 4;
constexpr int64_t kGroup = kLanes * kVectors;  // values per pass

// Constants of one epoch, broadcast at each use: that costs a load, as a stored vector would.
struct Network {
  uint32_t left_mask, right_mask;
  int32_t last_left, last_right;  // the parts of n - 1
  uint32_t keys[kFeistelRounds];
  int right_bits;
};

// Values out of range, for another pass. Room for less than a group, one more group, and the lanes that a compressing
// store writes past its end.
struct Stack {
  HWY_ALIGN uint32_t left[2 * kGroup + kLanes];
  HWY_ALIGN uint32_t right[2 * kGroup + kLanes];
  HWY_ALIGN uint32_t positions[2 * kGroup + kLanes];
  int64_t count = 0;
};

// kShort: parts of at most 16 bits (n <= 2^32). The upper half of the hash's input is then the key's, so the hash's first
// shift-xor is applied once, here, instead of in every round.
template <bool kShort>
HWY_INLINE Network make_network(const Feistel& feistel) {
  Network network;
  network.left_mask = feistel.left_mask;
  network.right_mask = feistel.right_mask;
  network.last_left = static_cast<int32_t>(feistel.last >> feistel.right_bits);
  network.last_right = static_cast<int32_t>(feistel.last & feistel.right_mask);
  for (int i = 0; i < kFeistelRounds; ++i) {
    const uint32_t key = feistel.keys[i];
    network.keys[i] = kShort ? key ^ (key >> 16) : key;
  }
  network.right_bits = static_cast<int>(feistel.right_bits);
  return network;
}

template <bool kShort>
HWY_INLINE V32 hash(V32 x) {
  const D32 d;
  if (!kShort) x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, kMix32A));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(d, kMix32B));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

// The key of a round: one for all lanes, or one a lane.
struct OneKey {
  uint32_t key;
  HWY_INLINE V32 of(int) const { return hn::Set(D32(), key); }
};
struct LaneKeys {
  const uint32_t* keys;
  HWY_INLINE V32 of(int vector) const { return hn::Load(D32(), keys + vector * kLanes); }
};

// to ^= hash(from ^ key) & mask, for all vectors in parallel.
template <bool kShort, int kCount, typename Key>
HWY_INLINE void half_round(V32* HWY_RESTRICT to, const V32* HWY_RESTRICT from, Key key, uint32_t mask) {
  const D32 d;
  V32 hashed[kCount];
  DATALINE_UNROLL
  for (int k = 0; k < kCount; ++k) hashed[k] = hash<kShort>(hn::Xor(from[k], key.of(k)));
  DATALINE_UNROLL
  for (int k = 0; k < kCount; ++k) to[k] = hn::Xor(to[k], hn::And(hashed[k], hn::Set(d, mask)));
}

template <bool kShort, int kCount>
HWY_INLINE void run_rounds(const Network& network, V32* HWY_RESTRICT left, V32* HWY_RESTRICT right) {
  for (int i = 0; i < kFeistelRounds; i += 2) {
    half_round<kShort, kCount>(left, right, OneKey{network.keys[i]}, network.left_mask);
    half_round<kShort, kCount>(right, left, OneKey{network.keys[i + 1]}, network.right_mask);
  }
}

// Whether value > n - 1. The parts have at most 31 bits, so signed comparison (all that AVX2 has) is correct.
HWY_INLINE M32 out_of_range(const Network& network, V32 left, V32 right) {
  const hn::RebindToSigned<D32> d;
  const auto signed_left = hn::BitCast(d, left);
  const auto last_left = hn::Set(d, network.last_left);
  const auto right_beyond = hn::Gt(hn::BitCast(d, right), hn::Set(d, network.last_right));
  const auto beyond =
      hn::Or(hn::Gt(signed_left, last_left), hn::And(hn::Eq(signed_left, last_left), right_beyond));
  return hn::RebindMask(D32(), beyond);
}

#if HWY_TARGET == HWY_AVX3
// Compresses in registers: on Zen 4 the compressing store to memory takes over a hundred cycles.
HWY_INLINE void push(Stack& stack, V32 left, V32 right, V32 position, M32 chosen) {
  const D32 d;
  hn::StoreU(hn::Compress(left, chosen), d, stack.left + stack.count);
  hn::StoreU(hn::Compress(right, chosen), d, stack.right + stack.count);
  hn::StoreU(hn::Compress(position, chosen), d, stack.positions + stack.count);
  stack.count += static_cast<int64_t>(hn::CountTrue(d, chosen));
}
#else
// Row m: the indices of the set bits of m, then anything. Highway's Compress has such a table too, but gcc copies it to
// the stack at each use.
struct CompactTable {
  uint8_t rows[1 << kLanes][kLanes] = {};
  constexpr CompactTable() {
    for (int64_t m = 0; m < (1 << kLanes); ++m) {
      int64_t to = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        if ((m >> lane & 1) != 0) rows[m][to++] = static_cast<uint8_t>(lane);
      }
    }
  }
};
constexpr CompactTable kCompact;

HWY_INLINE void push(Stack& stack, V32 left, V32 right, V32 position, M32 chosen) {
  const D32 d;
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, chosen, bits);
  const hn::Rebind<uint8_t, D32> d8;
  const auto order = hn::IndicesFromVec(d, hn::PromoteTo(d, hn::LoadU(d8, kCompact.rows[bits[0]])));
  hn::StoreU(hn::TableLookupLanes(left, order), d, stack.left + stack.count);
  hn::StoreU(hn::TableLookupLanes(right, order), d, stack.right + stack.count);
  hn::StoreU(hn::TableLookupLanes(position, order), d, stack.positions + stack.count);
  stack.count += static_cast<int64_t>(hn::CountTrue(d, chosen));
}
#endif

// The parts of slots first, first + 1, ...
HWY_INLINE void load_slots(const Network& network, uint64_t first, V32* HWY_RESTRICT left,
                           V32* HWY_RESTRICT right) {
  const D32 d;
  const V32 low_first = hn::Set(d, static_cast<uint32_t>(first));
  const V32 high_first = hn::Set(d, static_cast<uint32_t>(first >> 32));
  DATALINE_UNROLL
  for (int k = 0; k < kVectors; ++k) {
    const V32 low = hn::Add(low_first, hn::Iota(d, static_cast<uint32_t>(k * kLanes)));
    const V32 high = hn::Sub(high_first, hn::VecFromMask(d, hn::Lt(low, low_first)));  // a carry is -1
    right[k] = hn::And(low, hn::Set(d, network.right_mask));
    left[k] =
        hn::Or(hn::ShiftRightSame(low, network.right_bits), hn::ShiftLeftSame(high, 32 - network.right_bits));
  }
}

HWY_INLINE void store_joined(const Network& network, V32 left, V32 right, int64_t* HWY_RESTRICT out) {
  const hn::Repartition<uint64_t, D32> d;
  const hn::Half<D32> half;
  uint64_t* to = reinterpret_cast<uint64_t*>(out);
  const auto join = [&](auto l, auto r) {
    return hn::Or(hn::ShiftLeftSame(hn::PromoteTo(d, l), network.right_bits), hn::PromoteTo(d, r));
  };
  hn::StoreU(join(hn::LowerHalf(half, left), hn::LowerHalf(half, right)), d, to);
  hn::StoreU(join(hn::UpperHalf(half, left), hn::UpperHalf(half, right)), d, to + kLanes / 2);
}

HWY_INLINE void scatter_joined(const Network& network, const uint32_t* left, const uint32_t* right,
                               const uint32_t* positions, int64_t count, int64_t* HWY_RESTRICT out) {
  for (int64_t j = 0; j < count; ++j) {
    const uint64_t joined = (static_cast<uint64_t>(left[j]) << network.right_bits) | right[j];
    out[positions[j]] = static_cast<int64_t>(joined);
  }
}

// Processes the topmost group of the stack (or all of it); values still out of range are pushed again.
template <bool kShort>
HWY_INLINE void pop_group(const Network& network, Stack& stack, int64_t* HWY_RESTRICT out) {
  const D32 d;
  const int64_t count = stack.count < kGroup ? stack.count : kGroup;
  const int64_t base = stack.count - count;
  V32 left[kVectors];
  V32 right[kVectors];
  V32 positions[kVectors];
  DATALINE_UNROLL
  for (int k = 0; k < kVectors; ++k) {
    left[k] = hn::LoadU(d, stack.left + base + k * kLanes);
    right[k] = hn::LoadU(d, stack.right + base + k * kLanes);
    positions[k] = hn::LoadU(d, stack.positions + base + k * kLanes);
  }
  run_rounds<kShort, kVectors>(network, left, right);
  HWY_ALIGN uint32_t lefts[kGroup];
  HWY_ALIGN uint32_t rights[kGroup];
  DATALINE_UNROLL
  for (int k = 0; k < kVectors; ++k) {
    hn::Store(left[k], d, lefts + k * kLanes);
    hn::Store(right[k], d, rights + k * kLanes);
  }
  // Including those still out of range: a later pass overwrites them.
  scatter_joined(network, lefts, rights, stack.positions + base, count, out);
  stack.count = base;
  DATALINE_UNROLL
  for (int64_t k = 0; k < kVectors; ++k) {
    const int64_t left_over = count - k * kLanes;  // lanes of this and the later vectors
    const int64_t valid = left_over < 0 ? 0 : left_over < kLanes ? left_over : kLanes;
    const M32 beyond =
        hn::And(out_of_range(network, left[k], right[k]), hn::FirstN(d, static_cast<size_t>(valid)));
    push(stack, left[k], right[k], positions[k], beyond);
  }
}

// The last values, at most one vector: lanes walk until all are in range.
template <bool kShort>
HWY_INLINE void finish(const Network& network, Stack& stack, int64_t* HWY_RESTRICT out) {
  const D32 d;
  V32 left = hn::Load(d, stack.left);
  V32 right = hn::Load(d, stack.right);
  M32 walking = hn::FirstN(d, static_cast<size_t>(stack.count));
  do {
    V32 next_left = left;
    V32 next_right = right;
    run_rounds<kShort, 1>(network, &next_left, &next_right);
    left = hn::IfThenElse(walking, next_left, left);
    right = hn::IfThenElse(walking, next_right, right);
    walking = hn::And(walking, out_of_range(network, left, right));
  } while (!hn::AllFalse(d, walking));
  HWY_ALIGN uint32_t lefts[kLanes];
  HWY_ALIGN uint32_t rights[kLanes];
  hn::Store(left, d, lefts);
  hn::Store(right, d, rights);
  scatter_joined(network, lefts, rights, stack.positions, stack.count, out);
}

HWY_INLINE void push_slots(const Feistel& feistel, uint64_t first, int64_t from, int64_t count,
                           Stack& stack) {
  for (int64_t i = from; i < count; ++i) {
    const uint64_t slot = first + static_cast<uint64_t>(i);
    stack.left[stack.count] = static_cast<uint32_t>(slot >> feistel.right_bits);
    stack.right[stack.count] = static_cast<uint32_t>(slot) & feistel.right_mask;
    stack.positions[stack.count++] = static_cast<uint32_t>(i);
  }
}

template <bool kShort>
void permute_some(const Feistel& feistel, uint64_t first, int64_t count, int64_t* HWY_RESTRICT out) {
  const D32 d;
  const Network network = make_network<kShort>(feistel);
  Stack stack;
  V32 left[kVectors];
  V32 right[kVectors];
  int64_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    load_slots(network, first + static_cast<uint64_t>(i), left, right);
    run_rounds<kShort, kVectors>(network, left, right);
    DATALINE_UNROLL
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = i + k * kLanes;
      store_joined(network, left[k], right[k], out + at);
      push(stack, left[k], right[k], hn::Iota(d, static_cast<uint32_t>(at)),
           out_of_range(network, left[k], right[k]));
    }
    while (stack.count >= kGroup) pop_group<kShort>(network, stack, out);
  }
  push_slots(feistel, first, i, count, stack);
  while (stack.count > kLanes) pop_group<kShort>(network, stack, out);
  if (stack.count > 0) finish<kShort>(network, stack, out);
}

// Slots of several networks of one size, side by side in the lanes of a group, each lane with the keys of its network.
struct Group {
  HWY_ALIGN uint32_t keys[kFeistelRounds][kGroup + kLanes];  // stores may write a vector past the last lane
  HWY_ALIGN uint32_t left[kGroup + kLanes];
  HWY_ALIGN uint32_t right[kGroup + kLanes];
  int64_t count = 0;
};

// Adds slots first, first + 1, ... of one network.
HWY_INLINE void add_slots(const Network& network, uint64_t first, int64_t count, Group& group) {
  const D32 d;
  for (int64_t at = 0; at < count; at += kLanes) {
    const int64_t lane = group.count + at;
    const uint64_t slot = first + static_cast<uint64_t>(at);
    const V32 low_first = hn::Set(d, static_cast<uint32_t>(slot));
    const V32 low = hn::Add(low_first, hn::Iota(d, 0));
    const V32 high = hn::Sub(hn::Set(d, static_cast<uint32_t>(slot >> 32)),
                             hn::VecFromMask(d, hn::Lt(low, low_first)));  // a carry is -1
    hn::StoreU(hn::And(low, hn::Set(d, network.right_mask)), d, group.right + lane);
    hn::StoreU(
        hn::Or(hn::ShiftRightSame(low, network.right_bits), hn::ShiftLeftSame(high, 32 - network.right_bits)),
        d, group.left + lane);
    for (int i = 0; i < kFeistelRounds; ++i) hn::StoreU(hn::Set(d, network.keys[i]), d, group.keys[i] + lane);
  }
  group.count += count;
}

template <bool kShort, int kCount>
HWY_INLINE void permute_group(const Network& network, const Group& group, int64_t* HWY_RESTRICT out) {
  const D32 d;
  V32 left[kCount];
  V32 right[kCount];
  DATALINE_UNROLL
  for (int k = 0; k < kCount; ++k) {
    left[k] = hn::Load(d, group.left + k * kLanes);
    right[k] = hn::Load(d, group.right + k * kLanes);
  }
  for (int i = 0; i < kFeistelRounds; i += 2) {
    half_round<kShort, kCount>(left, right, LaneKeys{group.keys[i]}, network.left_mask);
    half_round<kShort, kCount>(right, left, LaneKeys{group.keys[i + 1]}, network.right_mask);
  }
  DATALINE_UNROLL
  for (int k = 0; k < kCount; ++k) store_joined(network, left[k], right[k], out + k * kLanes);
}

template <bool kShort>
void permute_some_runs(int64_t n, const FeistelRun* runs, int64_t run_count, int64_t* HWY_RESTRICT out) {
  Group group;
  Network network = {};
  for (int64_t r = 0; r < run_count; ++r) {
    network = make_network<kShort>(make_feistel(n, runs[r].key));
    uint64_t first = runs[r].first;
    for (int64_t left = runs[r].count; left > 0;) {
      const int64_t some = left < kGroup - group.count ? left : kGroup - group.count;
      add_slots(network, first, some, group);
      first += static_cast<uint64_t>(some), left -= some;
      if (group.count < kGroup) continue;
      permute_group<kShort, kVectors>(network, group, out);
      out += kGroup, group.count = 0;
    }
  }
  if (group.count == 0) return;
  HWY_ALIGN int64_t values[kGroup];
  for (int64_t lane = group.count; lane < kGroup; ++lane) {  // what the stores did not reach
    group.left[lane] = group.right[lane] = 0;
    for (auto& keys : group.keys) keys[lane] = 0;
  }
  permute_group<kShort, kVectors>(network, group, values);
  for (int64_t i = 0; i < group.count; ++i) out[i] = values[i];
}

void permute_runs(int64_t n, const FeistelRun* runs, int64_t run_count, int64_t* out) {
  const bool is_short = n <= int64_t{1} << 32;
  return is_short ? permute_some_runs<true>(n, runs, run_count, out)
                  : permute_some_runs<false>(n, runs, run_count, out);
}

// Output positions are 32-bit lanes, so long calls are split.
void permute(const Feistel& feistel, uint64_t first, int64_t count, int64_t* out) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  const auto some = feistel.right_bits <= 16 ? &permute_some<true> : &permute_some<false>;
  for (int64_t at = 0; at < count; at += kPiece) {
    some(feistel, first + static_cast<uint64_t>(at), count - at < kPiece ? count - at : kPiece, out + at);
  }
}
}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE
namespace dataline {
namespace {
void permute_plain(const Feistel& feistel, uint64_t first, int64_t count, int64_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<int64_t>(feistel_permute(feistel, first + static_cast<uint64_t>(i)));
  }
}

void permute_runs_plain(int64_t n, const FeistelRun* runs, int64_t run_count, int64_t* out) {
  for (int64_t r = 0; r < run_count; ++r) {
    permute_plain(make_feistel(n, runs[r].key), runs[r].first, runs[r].count, out);
    out += runs[r].count;
  }
}
}  // namespace

FeistelRunsFunction feistel_runs_function(SimdTarget target) {
  return DATALINE_SIMD_PICK(target, FeistelRunsFunction, permute_runs, &permute_runs_plain);
}

FeistelFunction feistel_function(SimdTarget target) {
  return DATALINE_SIMD_PICK(target, FeistelFunction, permute, &permute_plain);
}

namespace {
class FeistelOrder final : public Order {
 public:
  FeistelOrder(int64_t sample_count, uint64_t seed, SimdTarget target)
      : sample_count_(sample_count), seed_(seed), permute_(feistel_function(target)) {}

  int64_t slots() const override { return sample_count_; }
  // Making the keys costs about 5 ns per call: ask for whole batches.
  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    const FeistelFunction permute = count <= kFewSlots ? &permute_plain : permute_;
    permute(make_feistel(sample_count_, permutation_key(seed_, epoch, sample_count_)),
            static_cast<uint64_t>(first), count, out);
    return false;
  }

 private:
  static constexpr int64_t kFewSlots = 2;  // filling the vectors takes longer than two walks

  int64_t sample_count_;
  uint64_t seed_;
  FeistelFunction permute_;
};
}  // namespace

std::unique_ptr<const Order> feistel_order(int64_t sample_count, uint64_t seed, SimdTarget target) {
  return std::make_unique<FeistelOrder>(sample_count, seed, target);
}
}  // namespace dataline
#endif
