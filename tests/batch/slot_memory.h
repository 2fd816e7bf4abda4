// A slot with memory of its own, for tests: two storages, dense rows of f32[3] and ragged u16[-1x2] of at most 5 items.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/batch/slot.h"

namespace dataline {

constexpr int64_t kDenseBytes = 12, kItemBytes = 4, kMostItems = 5;

inline std::vector<OutputField> two_outputs() {
  return {OutputField{.field = {"dense", FieldKind::kDense, DType::kF32, {3}, "", -1},
                      .row_stride_bytes = kDenseBytes},
          OutputField{.field = {"words", FieldKind::kRagged, DType::kU16, {-1, 2}, "", -1}, .storage = 1}};
}

inline Layout two_storages(int64_t rows) {
  Storage dense, ragged;
  dense.row_bytes = kDenseBytes;
  ragged.kind = FieldKind::kRagged;
  ragged.row_bytes = kMostItems * kItemBytes;
  ragged.item_bytes = kItemBytes;
  return plan_layout({dense, ragged}, {}, rows).take();
}

// Sample i of these tests: bytes that tell which they are, and (i * 7 + 3) % 6 items, so that some have none.
inline std::string dense_row(int64_t sample) {
  std::string bytes(kDenseBytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(sample * 31 + static_cast<int64_t>(i));
  return bytes;
}
inline int64_t item_count(int64_t sample) { return (sample * 7 + 3) % (kMostItems + 1); }
inline std::string ragged_row(int64_t sample) {
  std::string bytes(static_cast<size_t>(item_count(sample) * kItemBytes), '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(sample * 17 + static_cast<int64_t>(i) + 1);
  return bytes;
}

constexpr std::align_val_t kAlignment{kTensorAlignment};

// Exactly layout.slot_bytes, so that a sanitizer sees what is written past them.
class SlotMemory {
 public:
  explicit SlotMemory(int64_t rows)
      : outputs_(two_outputs()),
        layout_(two_storages(rows)),
        memory_(static_cast<std::byte*>(::operator new(static_cast<size_t>(layout_.slot_bytes), kAlignment))),
        slot_(std::make_unique<Slot>(layout_, outputs_, SlotPlace{.host = memory_})) {
    std::memset(memory_, 0, static_cast<size_t>(layout_.slot_bytes));
  }
  ~SlotMemory() { ::operator delete(memory_, kAlignment); }
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  Slot& slot() { return *slot_; }

  // Opens the slot for these samples and writes their rows as workers do; those in `failed` write nothing.
  void fill(const std::vector<int64_t>& samples, int64_t valid, const std::vector<bool>& failed) {
    slot_->open(3, 5, 100, static_cast<int64_t>(samples.size()), valid);
    for (size_t row = 0; row < samples.size(); ++row) {
      slot_->sample_indices[row] = samples[row];
      slot_->sample_sources[row] = samples[row] % 2;
      const std::string dense = dense_row(samples[row]), ragged = ragged_row(samples[row]);
      std::memcpy(slot_->rows(0) + row * kDenseBytes, dense.data(), dense.size());
      std::memcpy(slot_->rows(1) + row * kMostItems * kItemBytes, ragged.data(), ragged.size());
      slot_->row_bytes(1)[row] = failed[row] ? 0 : static_cast<int64_t>(ragged.size());
    }
  }

  // What a consumer sees of the samples: views, offsets, indices.
  void expect_samples(const std::vector<int64_t>& samples) {
    std::string dense, ragged;
    std::vector<int64_t> offsets = {0};
    for (int64_t sample : samples) {
      dense += dense_row(sample);
      ragged += ragged_row(sample);
      offsets.push_back(offsets.back() + item_count(sample));
    }
    const int64_t count = static_cast<int64_t>(samples.size());
    ASSERT_EQ(slot_->samples, count);
    const std::vector<BatchView>& views = slot_->views.views();
    EXPECT_EQ(views[0].shape[0], count);
    EXPECT_EQ(views[0].bytes, count * kDenseBytes);
    EXPECT_EQ(bytes_at(views[0].data, views[0].bytes), dense);
    EXPECT_EQ(views[1].shape[0], offsets.back());
    EXPECT_EQ(views[1].shape[1], 2);
    EXPECT_EQ(views[1].bytes, offsets.back() * kItemBytes);
    EXPECT_EQ(bytes_at(views[1].data, views[1].bytes), ragged);
    EXPECT_EQ(std::vector<int64_t>(views[1].offsets, views[1].offsets + count + 1), offsets);
    EXPECT_EQ(slot_->delivered_bytes(), views[0].bytes + views[1].bytes);
    EXPECT_EQ(std::vector<int64_t>(slot_->sample_indices, slot_->sample_indices + count), samples);
    for (int64_t row = 0; row < count; ++row)
      EXPECT_EQ(slot_->sample_sources[row], samples[static_cast<size_t>(row)] % 2);
  }

 private:
  static std::string bytes_at(const void* data, int64_t bytes) {
    return {static_cast<const char*>(data), static_cast<size_t>(bytes)};
  }
  std::vector<OutputField> outputs_;
  Layout layout_;
  std::byte* memory_;
  std::unique_ptr<Slot> slot_;
};

}  // namespace dataline
