// How many items a record has, asked without reading it: of arrays, and through datasets composed of them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "core/source/composed/composed.h"
#include "core/source/host/host.h"
#include "tests/source/composed/compose_support.h"

namespace dataline::record_items_test {
namespace {

// Records of 2, 0 and 3 items of 8 bytes, after a dense field or without one.
SourceRef ragged_set(bool dense_first, HostMemory& memory) {
  static const std::array<uint32_t, 10> items{};
  static const std::array<int64_t, 4> offsets{0, 2, 2, 5};
  ArrayField ragged;
  ragged.field.name = "ragged";
  ragged.field.kind = FieldKind::kRagged;
  ragged.field.dtype = DType::kU32;
  ragged.field.shape = {-1, 2};
  ragged.data = reinterpret_cast<const std::byte*>(items.data());
  ragged.offsets = offsets.data();
  ragged.item_count = 5;
  ArrayField dense;
  dense.field.name = "dense";
  dense.data = reinterpret_cast<const std::byte*>(items.data());
  return array_source(dense_first ? std::vector{dense, ragged} : std::vector{ragged}, 3, {}, memory).take();
}

std::vector<int64_t> items_of(const Source& source) {
  std::vector<int64_t> items;
  for (int64_t i = 0; i < source.count(); ++i) items.push_back(source.record_items(i));
  return items;
}

using Items = std::vector<int64_t>;

TEST(RecordItems, OfArraysAreThoseOfTheirRaggedField) {
  const auto memory = HostMemory::create({});
  EXPECT_EQ(items_of(*ragged_set(false, *memory)), (Items{2, 0, 3}));
  EXPECT_EQ(items_of(*ragged_set(true, *memory)), (Items{2, 0, 3}));
}

TEST(RecordItems, OfFieldsOfOneSizeAreNotKnown) { EXPECT_EQ(numbered(1, 5)->record_items(3), -1); }

TEST(RecordItems, OfComposedSetsAreThoseOfTheirParts) {
  const auto memory = HostMemory::create({});
  const SourceRef set = ragged_set(false, *memory);
  EXPECT_EQ(items_of(*concat_sources({{"", set, ""}, {"", set, ""}}).take()), (Items{2, 0, 3, 2, 0, 3}));
  EXPECT_EQ(items_of(*zip_sources({{"a", numbered(1, 3), ""}, {"b", set, ""}}).take()), (Items{2, 0, 3}));
  const std::array<int64_t, 3> chosen{2, 2, 0};
  EXPECT_EQ(items_of(*subset_source(set, chosen, {}, *memory).take()), (Items{3, 3, 2}));
}

}  // namespace
}  // namespace dataline::record_items_test
