// Packing through the C ABI: by options of whatever makes a dataset, and what stays the host's when it fails.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/support/job.h"

namespace dataline::tests::packing_test {
namespace {

// Three documents: 1 2 3 | 4 5 | 6, as ragged u16.
constexpr std::array<uint16_t, 6> kTokens = {1, 2, 3, 4, 5, 6};
constexpr std::array<int64_t, 4> kOffsets = {0, 3, 5, 6};

struct Lent {
  dl_status status = DL_OK;
  std::string message;
  dl_dataset* dataset = nullptr;
};

Lent lend(const Settings& settings, int* releases, int32_t kind = DL_KIND_RAGGED) {
  const std::array<int64_t, 1> shape = {6};
  dl_array array = {};
  array.struct_size = sizeof array;
  array.kind = kind;
  array.name = "ids";
  array.dtype = DL_DTYPE_U16;
  array.rank = 1;
  array.shape = shape.data();
  array.data = kTokens.data();
  if (kind == DL_KIND_RAGGED) {
    array.offsets = kOffsets.data();
    array.sample_count = 3;
  }
  Lent out;
  Error error;
  out.status = dl_dataset_from_arrays(
      &array, 1, [](void* context) { ++*static_cast<int*>(context); }, releases, make_options(settings).get(),
      &out.dataset, &error);
  out.message = error.message;
  return out;
}

std::vector<uint16_t> first_row(dl_dataset* dataset, const Settings& settings = {}) {
  Error error;
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_dataset_read(dataset, 0, make_options(settings).get(), &batch, &error), DL_OK)
      << error.message;
  if (batch == nullptr) return {};
  const dl_view* x = dl_batch_views(batch, nullptr);
  const auto* tokens = static_cast<const uint16_t*>(x->data);
  std::vector<uint16_t> row(tokens, tokens + x->shape[1]);
  dl_batch_release(batch);
  return row;
}

TEST(Packing, ArraysAreLentUntilThePackedDatasetIsGone) {
  int releases = 0;
  const Lent lent = lend({{"pack_length", "4"}}, &releases);
  ASSERT_EQ(lent.status, DL_OK) << lent.message;
  EXPECT_EQ(dl_dataset_count(lent.dataset), 2);
  EXPECT_EQ(first_row(lent.dataset, {{"pack_length", "4"}}), (std::vector<uint16_t>{1, 2, 3, 4}));
  EXPECT_EQ(releases, 0);
  dl_dataset_destroy(lent.dataset);
  EXPECT_EQ(releases, 1);
}

TEST(Packing, WhatCannotBePackedStaysTheHosts) {
  int releases = 0;
  for (const auto& [settings, kind, words] : std::vector<std::tuple<Settings, int32_t, std::string>>{
           {{{"pack_length", "4"}}, DL_KIND_DENSE, "one ragged field of integers"},
           {{{"pack_length", "2"}, {"pack_method", "best_fit"}, {"pack_split", "false"}},
            DL_KIND_RAGGED,
            "document 0 has 3 tokens"},
           {{{"pack_window", "2"}}, DL_KIND_RAGGED, "option pack_window: needs pack_length"}}) {
    const Lent lent = lend(settings, &releases, kind);
    EXPECT_LT(lent.status, 0) << words;
    EXPECT_EQ(lent.dataset, nullptr);
    EXPECT_NE(lent.message.find(words), std::string::npos) << lent.message;
  }
  EXPECT_EQ(releases, 0);
}

TEST(Packing, ConcatenatedAndChosenDocumentsArePacked) {
  int releases = 0;
  const Lent lent = lend({}, &releases);
  ASSERT_EQ(lent.status, DL_OK);
  Error error;
  const auto options = make_options({{"pack_length", "12"}});
  dl_dataset *both = nullptr, *chosen = nullptr, *parts[] = {lent.dataset, lent.dataset};
  ASSERT_EQ(dl_dataset_concat(parts, 2, options.get(), &both, &error), DL_OK) << error.message;
  EXPECT_EQ(first_row(both), (std::vector<uint16_t>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
  const std::array<int64_t, 3> indices = {2, 2, 0};
  ASSERT_EQ(dl_dataset_subset(lent.dataset, indices.data(), 3, nullptr, nullptr,
                              make_options({{"pack_length", "5"}}).get(), &chosen, &error),
            DL_OK);
  EXPECT_EQ(first_row(chosen), (std::vector<uint16_t>{6, 6, 1, 2, 3}));
  for (dl_dataset* dataset : {both, chosen, lent.dataset}) dl_dataset_destroy(dataset);
  EXPECT_EQ(releases, 1);
}

TEST(Packing, ALoaderWithPackLengthNeedsADatasetThatWasOpenedWithIt) {
  int releases = 0;
  const Lent lent = lend({}, &releases);
  dl_loader* loader = nullptr;
  Error error;
  EXPECT_EQ(dl_loader_create(lent.dataset, make_options({{"pack_length", "4"}}).get(), &loader, &error),
            DL_ERR_BAD_OPTION);
  EXPECT_NE(std::string(error.message).find("the dataset was opened without it"), std::string::npos)
      << error.message;
  dl_dataset_destroy(lent.dataset);
}

TEST(Packing, AReaderHasNoLengths) {
  dl_view field = {};
  field.struct_size = sizeof field;
  field.name = "ids";
  field.kind = DL_KIND_RAGGED;
  field.dtype = DL_DTYPE_U16;
  field.rank = 1;
  const std::array<int64_t, 1> shape = {-1};
  field.shape = shape.data();
  dl_reader reader = {};
  reader.struct_size = sizeof reader;
  reader.field_count = 1;
  reader.fields = &field;
  reader.record_count = 3;
  reader.read = [](void*, dl_reader_request*) { return int32_t{0}; };
  dl_dataset* dataset = nullptr;
  Error error;
  EXPECT_EQ(dl_dataset_from_reader(&reader, make_options({{"pack_length", "4"}}).get(), &dataset, &error),
            DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("a reader does not report them"), std::string::npos)
      << error.message;
}

}  // namespace
}  // namespace dataline::tests::packing_test
