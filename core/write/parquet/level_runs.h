// Levels of a page, or indices of its dictionary, as they come in runs: Parquet's hybrid of run lengths and packed bits.
// Source: apache/parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)".
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"

namespace dataline {

class LevelRuns {
 public:
  explicit LevelRuns(int width) : width_(width) {}  // in bits, 1 to 8

  // `count` times `level`. Equal levels of two calls are one run.
  void add(uint8_t level, int64_t count) {
    if (count == 0) return;
    if (level != level_) {
      close_run();
      level_ = level;
    }
    run_ += count;
  }

  // At the end; then bytes() are all.
  void finish() {
    close_run();
    close_packed();
  }

  void clear() {
    bytes_.clear();
    packed_.clear();
    run_ = 0;
  }

  Bytes bytes() const { return bytes_; }
  int64_t size() const {
    return static_cast<int64_t>(bytes_.size() + packed_.size());
  }  // about, before the end

 private:
  // What is left of a run, once the group of eight before it is full, is a run by itself where it is worth it.
  void close_run() {
    const int64_t open = static_cast<int64_t>(packed_.size() % 8);
    if (open != 0) pack(std::min(run_, 8 - open));
    if (run_ < 8) return pack(run_);
    close_packed();
    for (; run_ > 0; run_ -= std::min<int64_t>(run_, INT32_MAX)) {
      varint(static_cast<uint64_t>(std::min<int64_t>(run_, INT32_MAX)) << 1);
      bytes_.push_back(std::byte{level_});
    }
  }

  void pack(int64_t count) {
    packed_.insert(packed_.end(), static_cast<size_t>(count), level_);
    run_ -= count;
  }

  // Groups of eight, the last one filled up with zeros.
  void close_packed() {
    if (packed_.empty()) return;
    packed_.resize((packed_.size() + 7) / 8 * 8);
    varint(packed_.size() / 8 << 1 | 1);
    uint32_t bits = 0;
    int held = 0;
    for (const uint8_t level : packed_) {
      bits |= uint32_t{level} << held;
      for (held += width_; held >= 8; held -= 8, bits >>= 8) bytes_.push_back(static_cast<std::byte>(bits));
    }
    packed_.clear();
  }

  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 128));
    bytes_.push_back(static_cast<std::byte>(value));
  }

  const int width_;
  std::vector<std::byte> bytes_;
  std::vector<uint8_t> packed_;  // of an open row of groups
  uint8_t level_ = 0;
  int64_t run_ = 0;
};

}  // namespace dataline
