// The yardsticks of `bench`.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/gather.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <system_error>
#include <thread>

#include "bindings/cli/clock.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr size_t kAlignment = 256;               // of the tensors in a slot, as in the loader
constexpr size_t kTile = 64;                     // rows per pass over the parts
constexpr size_t kCheckBytes = size_t{1} << 18;  // copied between readings of the clock
constexpr size_t kMaxUnchecked = 4096;           // batches between readings of the clock, at most
constexpr int kTrials = 3;
constexpr int64_t kMemcpyBytes = int64_t{64} << 20;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

int64_t gather_threads(double cores_busy, int64_t usable_cores) {
  return std::clamp<int64_t>(std::llround(cores_busy), 1, std::max<int64_t>(1, usable_cores));
}

void RowOrder::add(const int64_t* indices, int64_t count) {
  added_.insert(added_.end(), indices, indices + count);
  starts_.push_back(added_.size());
}

void RowOrder::finish(int64_t samples) {
  rows_.reserve(added_.size() + kSpare);
  for (const int64_t index : added_) rows_.push_back(static_cast<uint32_t>(index % samples));
  for (size_t b = 0; b < batches(); ++b) {
    const auto first = rows_.begin() + static_cast<ptrdiff_t>(starts_[b]);
    const auto last = rows_.begin() + static_cast<ptrdiff_t>(starts_[b + 1]);
    consecutive_.push_back(
        std::adjacent_find(first, last, [](uint32_t a, uint32_t c) { return c != a + 1; }) == last);
  }
  const size_t count = rows_.size();
  for (size_t i = 0; i < kSpare; ++i) rows_.push_back(count > 0 ? rows_[i % count] : 0);
  added_ = {};
}

Yardsticks::Yardsticks(const StoredRows& rows, const RowOrder& order, int64_t slot_count, int64_t threads,
                       double trial_seconds)
    : rows_(rows),
      order_(order),
      slot_count_(static_cast<size_t>(std::max(slot_count, threads))),
      threads_(static_cast<size_t>(threads)),
      own_slots_(slot_count_ / threads_) {
  size_t max = 0;
  for (size_t b = 0; b < order.batches(); ++b) max = std::max(max, order.count(b));
  for (const Piece& piece : rows.pieces) {
    if (piece.row_bytes == 0) {
      copies_.push_back({&piece, {}, slot_bytes_});
      slot_bytes_ += aligned(most_ragged_bytes(piece));
    }
    for (const Part& part : piece.parts) {
      const auto bytes = static_cast<size_t>(part.bytes);
      copies_.push_back({&piece, part, slot_bytes_, gather_loops(bytes)[0]});
      slot_bytes_ += aligned(max * bytes);
    }
  }
  slots_ = Region(static_cast<int64_t>(slot_count_ * slot_bytes_), Region::Pages::kHuge);
  std::memset(slots_.data(), 0, static_cast<size_t>(slots_.bytes()));
  choose_loops(trial_seconds);
}

size_t Yardsticks::most_ragged_bytes(const Piece& piece) const {
  int64_t max = 0;
  for (size_t b = 0; b < order_.batches(); ++b) {
    int64_t bytes = 0;
    for (size_t i = 0; i < order_.count(b); ++i) {
      const uint32_t row = order_.rows(b)[i];
      bytes += piece.offsets[row + 1] - piece.offsets[row];
    }
    max = std::max(max, bytes);
  }
  return static_cast<size_t>(max);
}

void Yardsticks::choose_loops(double trial_seconds) {
  for (Copy& copy : copies_) {
    if (copy.loop == nullptr) continue;
    const auto loops = gather_loops(static_cast<size_t>(copy.part.bytes));
    std::vector<double> best(loops.size() + 1);  // the last: whole tiles
    const auto take = [&](size_t i) {
      copy.whole = i == loops.size();
      copy.loop = loops[copy.whole ? 0 : i];
    };
    for (int trial = 0; trial < kTrials; ++trial) {
      for (size_t i = 0; i < best.size(); ++i) {
        take(i);
        best[i] = std::max(best[i], gather(trial_seconds).samples_per_s);
      }
    }
    take(static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin()));
  }
}

void Yardsticks::fill_ragged(const Piece& piece, size_t batch, std::byte* out) const {
  constexpr size_t kAhead = 4;
  const uint32_t* order = order_.rows(batch);
  for (size_t i = 0; i < order_.count(batch); ++i) {
    const std::byte* later = piece.memory.data() + piece.offsets[order[i + kAhead]];
    __builtin_prefetch(later);
    const int64_t begin = piece.offsets[order[i]];
    const auto bytes = static_cast<size_t>(piece.offsets[order[i] + 1] - begin);
    std::memcpy(out, piece.memory.data() + begin, bytes);
    out += bytes;
  }
}

void Yardsticks::fill(size_t batch, std::byte* slot) const {
  const uint32_t* order = order_.rows(batch);
  const size_t count = order_.count(batch);
  for (const Copy& copy : copies_) {
    if (copy.loop == nullptr) fill_ragged(*copy.piece, batch, slot + copy.place);
  }
  // Dense parts tile by tile: the row is still in the cache for its second part.
  for (size_t at = 0; at < count; at += kTile) {
    const size_t rows = std::min(kTile, count - at);
    for (const Copy& copy : copies_) {
      if (copy.loop == nullptr) continue;
      const auto stride = static_cast<size_t>(copy.piece->row_bytes);
      const auto bytes = static_cast<size_t>(copy.part.bytes);
      std::byte* out = slot + copy.place + at * bytes;
      if (copy.whole && order_.consecutive(batch) && stride == bytes) {
        std::memcpy(out, copy.piece->memory.data() + order[at] * stride, rows * bytes);
      } else {
        copy.loop(copy.piece->memory.data(), stride, static_cast<size_t>(copy.part.from), bytes, order + at,
                  rows, out);
      }
    }
  }
}

// Copies batches thread, thread + threads, ... into the thread's own slots.
Gathered Yardsticks::run_thread(size_t thread, double seconds) const {
  const auto start = Clock::now();
  const double cpu_before = thread_cpu_seconds();
  size_t unchecked_bytes = 0;
  size_t samples = 0;
  size_t slot = 0;
  for (size_t batch = thread;; batch += threads_) {
    batch %= order_.batches();
    fill(batch, slots_.data() + (thread * own_slots_ + slot) * slot_bytes_);
    samples += order_.count(batch);
    slot = slot + 1 < own_slots_ ? slot + 1 : 0;
    unchecked_bytes += slot_bytes_ + kCheckBytes / kMaxUnchecked;
    if (unchecked_bytes < kCheckBytes) continue;
    unchecked_bytes = 0;
    const double elapsed = seconds_since(start);
    if (elapsed < seconds) continue;
    const auto all = static_cast<double>(samples);
    return {all / elapsed, all, thread_cpu_seconds() - cpu_before};
  }
}

Gathered Yardsticks::gather(double seconds) const {
  std::vector<Gathered> parts(threads_);
  {
    std::vector<std::jthread> others;
    try {
      for (size_t thread = 1; thread < threads_; ++thread) {
        others.emplace_back([&, thread] { parts[thread] = run_thread(thread, seconds); });
      }
    } catch (const std::system_error& error) {
      throw thread_failure("to gather as the loader's workers do", error.code().value());
    }
    parts[0] = run_thread(0, seconds);
  }
  return std::accumulate(parts.begin(), parts.end(), Gathered(), [](const Gathered& a, const Gathered& b) {
    return Gathered{a.samples_per_s + b.samples_per_s, a.samples + b.samples, a.cpu_seconds + b.cpu_seconds};
  });
}

double Yardsticks::memcpy_bytes_per_s(double seconds) const {
  const auto slots_bytes = slots_.bytes();
  const auto start = Clock::now();
  int64_t copied = 0;
  int64_t to = 0;
  while (copied < kMemcpyBytes || seconds_since(start) < seconds) {
    for (const Piece& piece : rows_.pieces) {
      const int64_t all = piece.row_bytes == 0 ? piece.offsets.back() : piece.row_bytes * rows_.samples;
      for (int64_t from = 0; from < all;) {
        const int64_t bytes = std::min({all - from, static_cast<int64_t>(slot_bytes_), slots_bytes - to});
        std::memcpy(slots_.data() + to, piece.memory.data() + from, static_cast<size_t>(bytes));
        from += bytes;
        copied += bytes;
        to = to + bytes < slots_bytes ? to + bytes : 0;
        if (copied >= kMemcpyBytes && seconds_since(start) >= seconds) from = all;
      }
    }
  }
  return static_cast<double>(copied) / seconds_since(start);
}

}  // namespace dataline::cli
