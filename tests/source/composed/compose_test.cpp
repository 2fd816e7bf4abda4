// zip, concat and subset: what they deliver, refuse, and do with failures of their parts.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/composed/composed.h"
#include "core/source/source.h"
#include "tests/source/composed/compose_support.h"
#include "tests/support/data_digest.h"

namespace dataline::compose_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint16_t> pair(uint16_t tag, int64_t index) { return {tag, static_cast<uint16_t>(index)}; }

SourceRef concat_of(std::vector<SourceRef> sources) {
  std::vector<Part> parts;
  for (SourceRef& source : sources) parts.push_back({"", std::move(source), ""});
  return concat_sources(std::move(parts)).take();
}

TEST(Concat, RunsOverManyShardsComeInTheOrderAsked) {
  std::vector<SourceRef> shards;
  for (uint16_t tag = 0; tag < 100; ++tag) shards.push_back(numbered(tag, 10));
  SourceRef source = concat_of(shards);
  EXPECT_EQ(source->count(), 1000);
  std::vector<int64_t> indices = {999, 0, 10, 9, 11, 12, 13, 500, 501, 9};
  Fetched rows = fetch(*source, indices);
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][i]),
              pair(static_cast<uint16_t>(indices[i] / 10), indices[i] % 10));
  }
}

TEST(Concat, NeighboursInOneShardStayContiguous) {
  SourceRef source = concat_of({numbered(0, 100), numbered(1, 100)});
  RunArrays arrays(*source);
  std::vector<int64_t> indices = {90, 91, 92, 93};
  RowErrors errors;
  dataline::Run run;
  run.count = 4;
  run.indices = indices.data();
  run.contiguous = true;
  run.columns = arrays.columns.data();
  run.errors = &errors;
  source->locate(run);
  EXPECT_TRUE(run.columns[0].contiguous);
  for (int64_t& index : indices) index += 8;  // 98 .. 101: over the border
  source->locate(run);
  EXPECT_FALSE(run.columns[0].contiguous);
}

TEST(Concat, IsPromptIfAllPartsThatCallTheHostAre) {
  const SourceRef prompt = read_texts(0, 9, -1, true), slow = read_texts(0, 9);
  EXPECT_EQ(concat_of({texts(0, 4), prompt, prompt})->facts().host_calls, HostCalls::kPrompt);
  EXPECT_EQ(concat_of({prompt, slow})->facts().host_calls, HostCalls::kMayBlock);
  const std::vector<int64_t> indices = {0, 3};
  const auto memory = HostMemory::create({});
  EXPECT_EQ(subset_source(prompt, indices, {}, *memory).take()->facts().host_calls, HostCalls::kPrompt);
}

TEST(Concat, EmptyPartsTakeNoIndices) {
  SourceRef source =
      concat_of({numbered(0, 0), numbered(1, 3), numbered(2, 0), numbered(3, 2), numbered(4, 0)});
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][2]), pair(1, 2));
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][3]), pair(3, 0));
  EXPECT_EQ(concat_of({numbered(0, 0), numbered(1, 0)})->count(), 0);
}

TEST(Concat, OnePartIsThatPart) {
  SourceRef part = numbered(0, 3);
  EXPECT_EQ(concat_of({part}), part);
}

TEST(Concat, PartsOfOtherLayoutsAreBroughtTogether) {
  SourceRef source = concat_of({std::make_shared<PackedPair>(uint16_t{5}, 3), split_pair(6, 3),
                                std::make_shared<PackedPair>(uint16_t{7}, 3)});
  for (int64_t run_records : {1, 3, 64}) {
    FetchOptions options;
    options.run_records = run_records;
    Fetched rows = fetch(*source, {0, 4, 8, 3, 1}, options);
    std::vector<uint16_t> seen;
    for (size_t i = 0; i < 5; ++i) {
      seen.push_back(values_of<uint16_t>(rows.bytes[0][i])[0]);
      seen.push_back(values_of<uint16_t>(rows.bytes[1][i])[0]);
    }
    EXPECT_THAT(seen, ElementsAre(5, 0, 6, 1, 7, 2, 6, 0, 5, 1));
  }
}

TEST(Layouts, OfMoreFieldsOrColumnsAreOthers) {
  PackedPair packed(0, 1);
  const Schema &two = packed.schema(), apart = split_pair(0, 1)->schema();
  Schema one = two;  // the first field alone, in the same column
  one.fields.pop_back();
  one.places.pop_back();
  EXPECT_TRUE(same_layout(two, PackedPair(1, 2).schema()));
  EXPECT_FALSE(same_layout(one, two));
  EXPECT_FALSE(same_layout(one, column_per_field(one.fields))) << "a column of 4 bytes and one of 2";
  EXPECT_FALSE(same_layout(two, apart));
  Schema wider = one;  // a column that no field lies in
  wider.columns.push_back({2});
  EXPECT_FALSE(same_layout(one, wider));
}

TEST(Concat, FieldsThatDifferAreNamedWithBothParts) {
  auto differ = [](SourceRef a, SourceRef b) {
    return concat_sources({{"", std::move(a), "/data/a.npy"}, {"", std::move(b), "/data/b.npy"}});
  };
  expect_error(differ(numbered(0, 1), numbered(0, 1, "other")), Code::kMismatch,
               {"/data/b.npy has fields other; /data/a.npy has data"});
  expect_error(differ(numbered(0, 1), texts(0, 1)), Code::kMismatch, {"/data/b.npy has fields id, text"});
  uint16_t value = 0;
  ArrayField wide;
  wide.field = {"data", FieldKind::kDense, DType::kU16, {1, 2}, "", -1};
  wide.data = reinterpret_cast<const std::byte*>(&value);
  SourceRef reshaped = array_source({wide}, 0, {}, *HostMemory::create({})).take();
  expect_error(differ(numbered(0, 1), reshaped), Code::kMismatch,
               {"/data/b.npy: field 'data' is u16[1x2], in /data/a.npy it is u16[2]"});
}

TEST(Concat, AxesThatContradictAreRefusedAndUnknownOnesWin) {
  uint8_t value[6] = {};
  auto with_axes = [&](std::string axes) {
    ArrayField array;
    array.field = {"data", FieldKind::kDense, DType::kU8, {2, 3}, std::move(axes), -1};
    array.data = reinterpret_cast<const std::byte*>(value);
    return array_source({array}, 1, {}, *HostMemory::create({})).take();
  };
  EXPECT_EQ(concat_of({with_axes("HW"), with_axes("HW")})->schema().fields[0].axes, "HW");
  EXPECT_EQ(concat_of({with_axes("HW"), with_axes("")})->schema().fields[0].axes, "");
  expect_error(concat_sources({{"", with_axes("HW"), "a"}, {"", with_axes("WH"), "b"}}), Code::kMismatch,
               {"b: field 'data' has axes WH, in a it has HW"});
}

TEST(Concat, NothingAndNullAreRefused) {
  expect_error(concat_sources({}), Code::kInvalidArgument, {"concat needs at least one dataset"});
  expect_error(concat_sources({{"", nullptr, ""}}), Code::kInvalidArgument, {"part 0 is null"});
}

TEST(Concat, AFailureNamesTheSampleOfTheWholeSet) {
  SourceRef source =
      concat_of({read_texts(0, 10), read_texts(1, 10, /*bad=*/4), read_texts(2, 10, /*bad=*/4)});
  Fetched rows = fetch(*source, {14, 3, 24, 13, 15, 25});
  ASSERT_EQ(rows.errors.size(), 2u);
  EXPECT_EQ(rows.errors.at(0).sample_index(), 14);
  EXPECT_EQ(rows.errors.at(2).sample_index(), 24);
  EXPECT_EQ(values_of<int64_t>(rows.bytes[0][4]), std::vector<int64_t>{1005});
  EXPECT_EQ(rows.bytes[1][3], "bbb");
}

TEST(Concat, TheLargestSampleIsKnownOnlyWhenAllPartsKnow) {
  EXPECT_EQ(concat_of({texts(0, 3), texts(1, 5)})->schema().fields[1].max_bytes, 4);
  EXPECT_EQ(concat_of({texts(0, 3), read_texts(1, 5)})->schema().fields[1].max_bytes, -1);
}

TEST(Zip, FieldsStandSideBySide) {
  SourceRef source =
      zip_sources({{"image", numbered(1, 5), ""}, {"meta", texts(2, 5), ""}, {"", numbered(3, 5), ""}})
          .take();
  std::vector<std::string> names;
  for (const Field& field : source->schema().fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("image", "meta/id", "meta/text", "data"));
  Fetched rows = fetch(*source, {4, 2});
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][0]), pair(1, 4));
  EXPECT_EQ(values_of<int64_t>(rows.bytes[1][1]), std::vector<int64_t>{2002});
  EXPECT_EQ(rows.bytes[2][0], "cccc");
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[3][1]), pair(3, 2));
}

TEST(Zip, UnequalLengthsAreNamed) {
  expect_error(zip_sources({{"image", numbered(0, 5), "a.npy"}, {"label", numbered(0, 4), "b.npy"}}),
               Code::kMismatch, {"zip: b.npy has 4 samples, a.npy has 5"});
  expect_error(zip_sources({{"image", numbered(0, 5), ""}, {"label", numbered(0, 4), ""}}), Code::kMismatch,
               {"zip: label has 4 samples, image has 5"});
  expect_error(zip_sources({{"", numbered(0, 5), ""}, {"", numbered(0, 6), ""}}), Code::kMismatch,
               {"zip: part 1 has 6 samples, part 0 has 5"});
}

TEST(Zip, NothingAndNullAreRefused) {
  expect_error(zip_sources({}), Code::kInvalidArgument, {"zip needs at least one dataset"});
  expect_error(zip_sources({{"image", numbered(0, 5), ""}, {"label", nullptr, ""}}), Code::kInvalidArgument,
               {"zip: label is null"});
}

TEST(Zip, AFieldNameTwiceIsRefused) {
  expect_error(zip_sources({{"", numbered(0, 5), ""}, {"", numbered(1, 5), ""}}), Code::kMismatch,
               {"two fields are called 'data'"});
  expect_error(zip_sources({{"x", numbered(0, 5), ""}, {"x", numbered(1, 5), ""}}), Code::kMismatch, {"'x'"});
}

TEST(Zip, ARowThatFailsInOnePartIsGoneInAll) {
  SourceRef source =
      zip_sources({{"a", read_texts(0, 9, 3), ""}, {"b", numbered(1, 9), ""}, {"c", read_texts(2, 9, 5), ""}})
          .take();
  EXPECT_NE(source->facts().host_calls, HostCalls::kNone);
  Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 2u);
  EXPECT_EQ(rows.errors.at(3).sample_index(), 3);
  EXPECT_EQ(rows.errors.at(5).sample_index(), 5);
  EXPECT_EQ(rows.bytes[4][8], "ccc");
}

TEST(Subset, DeliversTheSamplesNamed) {
  auto memory = HostMemory::create({});
  std::vector<int64_t> indices = {4, 4, 0, 9};
  SourceRef source = subset_source(numbered(1, 10), indices, {}, *memory).take();
  indices.assign(4, 0);  // it was copied
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][1]), pair(1, 4));
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][3]), pair(1, 9));
  source.reset();
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(Subset, ABadIndexIsNamedByPlaceAndValue) {
  auto memory = HostMemory::create({});
  for (int64_t bad : {int64_t{-1}, int64_t{10}, INT64_MAX, INT64_MIN}) {
    std::vector<int64_t> indices = {0, 9, bad};
    expect_error(subset_source(numbered(1, 10), indices, {}, *memory), Code::kOutOfRange,
                 {concat("indices[2] is ", bad, ", the dataset has 10 samples")});
  }
  expect_error(subset_source(nullptr, {}, {}, *memory), Code::kInvalidArgument, {"null"});
  EXPECT_EQ(subset_source(numbered(1, 10), {}, {}, *memory).value()->count(), 0);
}

TEST(Subset, ABorrowedIndexThatGoesBadFailsItsRowAlone) {
  auto memory = HostMemory::create({});
  std::vector<int64_t> indices = {1, 2, 3};
  int released = 0;
  HostOwner owner{&released, [](void* count) { ++*static_cast<int*>(count); }};
  SourceRef source = subset_source(numbered(1, 10), indices, owner, *memory).take();
  indices[1] = 10;
  Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kOutOfRange);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("indices[1] is 10"));
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][2]), pair(1, 3));
  EXPECT_EQ(released, 0);
  source.reset();
  EXPECT_EQ(released, 1);
}

TEST(Subset, AFailureNamesItsOwnSample) {
  auto memory = HostMemory::create({});
  SourceRef source = subset_source(read_texts(0, 10, 7), std::vector<int64_t>{1, 7, 2}, {}, *memory).take();
  Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).sample_index(), 1);
}

TEST(Compose, ReadersAreToldTheSlotOfEachRowHoweverItIsReached) {
  const SourceRef slots = read_slots(30);
  std::vector<SourceRef> many(40, slots);  // too many to sort
  const std::vector<int64_t> backwards = {29, 3, 17, 3, 0, 28};
  const SourceRef few = concat_of({slots, slots, slots}),
                  chosen = subset_source(few, backwards, {}, *HostMemory::create({})).take();
  const SourceRef zipped = zip_sources({{"a", slots, ""}, {"b", slots, ""}}).take();
  const std::vector<int64_t> indices = {5, 71, 6, 66, 2, 1, 0, 89}, inside = {5, 4, 0, 3, 1, 2};
  for (const auto& [source, asked] :
       {std::pair(few, indices), std::pair(concat_of(many), indices), std::pair(chosen, inside),
        std::pair(zipped, inside), std::pair(few, std::vector<int64_t>{28, 29, 60, 61})}) {
    FetchOptions options;
    options.first_slot = 500;
    const Fetched rows = fetch(*source, asked, options);
    for (size_t f = 0; f < rows.bytes.size(); ++f) {
      for (size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(values_of<int64_t>(rows.bytes[f][i]), std::vector<int64_t>{500 + static_cast<int64_t>(i)})
            << source->info().format << ", row " << i;
      }
    }
  }
}

TEST(Compose, IdentitiesTellCompositionsApart) {
  auto memory = HostMemory::create({});
  auto print = [](const SourceRef& source) { return data_digest(*source); };
  uint64_t whole = print(numbered(1, 10));
  uint64_t halves = print(concat_of({numbered(1, 5), numbered(1, 5)}));
  uint64_t uneven = print(concat_of({numbered(1, 4), numbered(1, 6)}));
  uint64_t chosen = print(subset_source(numbered(1, 10), std::vector<int64_t>{1, 2}, {}, *memory).take());
  uint64_t others = print(subset_source(numbered(1, 10), std::vector<int64_t>{2, 1}, {}, *memory).take());
  EXPECT_NE(whole, halves);
  EXPECT_NE(halves, uneven);
  EXPECT_NE(chosen, others);
  EXPECT_EQ(whole, print(numbered(1, 10)));
  EXPECT_NE(whole, print(numbered(2, 10))) << "other values";
}

}  // namespace
}  // namespace dataline::compose_test
