// Full shuffle of fewer than 65,536 samples: an exact Fisher-Yates shuffle, every permutation equally likely given random
// words. The epoch's order is a table of 2-byte entries.
//
// Step i swaps entry i with entry i + below(n - i), after which slot i is final. It uses 32 random bits: half i % 2 of
// word i / 2 of splitmix64, keyed by seed, epoch and n. The bounded draw is Lemire's unbiased multiply and reject; attempt
// k > 0 of step i draws random_bits(key, i, k).
//
// Costs: 2 bytes per sample and open epoch, 1 ns per slot in the background, 0.15 ns to read one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/random.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

constexpr int64_t kBlockWords = 128;   // per call of the vector code; 1 KiB of stack
constexpr int64_t kBlockEntries = 16;  // a fixed inner loop, which compilers vectorize at -O2 too

uint16_t* entries_of(const EpochTable& table) { return reinterpret_cast<uint16_t*>(table.memory); }

// The rare rejection step of the bounded draw; `product` = word * bound.
uint32_t redraw(uint64_t product, uint64_t key, int64_t step, uint32_t bound) {
  const uint32_t reject_below = (0u - bound) % bound;  // 2^32 mod bound
  for (uint64_t attempt = 1; static_cast<uint32_t>(product) < reject_below; ++attempt) {
    const uint64_t bits = random_bits(key, static_cast<uint64_t>(step), attempt);
    product = static_cast<uint64_t>(static_cast<uint32_t>(bits)) * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

// One step with its 32 random bits; `remaining` entries are not final yet.
inline void swap_step(uint16_t* entries, int64_t step, int64_t remaining, uint32_t bits, uint64_t key) {
  const uint32_t bound = static_cast<uint32_t>(remaining);
  const uint64_t product = static_cast<uint64_t>(bits) * bound;
  uint32_t distance = static_cast<uint32_t>(product >> 32);
  if (static_cast<uint32_t>(product) < bound) [[unlikely]]
    distance = redraw(product, key, step, bound);
  std::swap(entries[step], entries[step + distance]);
}

class FisherYatesOrder final : public Order {
 public:
  FisherYatesOrder(int64_t sample_count, uint64_t seed, SimdTarget target)
      : sample_count_(sample_count), seed_(seed), words_(words_function(target)) {}

  int64_t slots() const override { return sample_count_; }
  int64_t table_bytes() const override { return round_up(2 * sample_count_, 64); }
  int64_t table_steps() const override { return sample_count_ - 1; }  // the last entry needs no swap
  void begin_table(EpochTable& table, int64_t epoch) const override {
    uint16_t* entries = entries_of(table);
    for (int64_t i = 0; i < sample_count_; i += kBlockEntries) {  // the table is a multiple of it
      for (int64_t k = 0; k < kBlockEntries; ++k) entries[i + k] = static_cast<uint16_t>(i + k);
    }
    Order::begin_table(table, epoch);
  }
  void advance_table(EpochTable& table, int64_t steps) const override {
    const uint64_t key =
        random_bits(random_key(seed_, static_cast<uint64_t>(table.epoch), Domain::kFisherYates),
                    static_cast<uint64_t>(sample_count_));
    uint16_t* entries = entries_of(table);
    const int64_t end = table.done + std::clamp<int64_t>(steps, 0, table_steps() - table.done);
    int64_t step = table.done;
    while (step < end) {
      uint64_t words[kBlockWords];
      const int64_t first_word = step / 2;
      const int64_t block_end = std::min(end, (first_word + kBlockWords) * 2);
      words_(key, first_word, (block_end + 1) / 2 - first_word, words);
      const uint64_t* word = words;
      if (step % 2 == 1) {
        swap_step(entries, step, sample_count_ - step, static_cast<uint32_t>(*word++ >> 32), key);
        ++step;
      }
      for (; step + 2 <= block_end; step += 2, ++word) {
        swap_step(entries, step, sample_count_ - step, static_cast<uint32_t>(*word), key);
        swap_step(entries, step + 1, sample_count_ - step - 1, static_cast<uint32_t>(*word >> 32), key);
      }
      if (step < block_end) {
        swap_step(entries, step, sample_count_ - step, static_cast<uint32_t>(*word), key);
        ++step;
      }
    }
    table.done = end;
  }
  bool samples(int64_t, const EpochTable* table, int64_t first, int64_t count, int64_t* out) const override {
    const uint16_t* entries = entries_of(*table) + first;
    int64_t i = 0;
    for (; i + kBlockEntries <= count; i += kBlockEntries) {
      for (int64_t k = 0; k < kBlockEntries; ++k) out[i + k] = entries[i + k];
    }
    for (; i < count; ++i) out[i] = entries[i];
    return false;
  }

 private:
  int64_t sample_count_;
  uint64_t seed_;
  WordsFunction words_;
};

}  // namespace

std::unique_ptr<const Order> fisher_yates_order(int64_t sample_count, uint64_t seed, SimdTarget target) {
  return std::make_unique<FisherYatesOrder>(sample_count, seed, target);
}

}  // namespace dataline
