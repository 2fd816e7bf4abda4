// Rows packed from documents.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/thread.h"
#include "core/source/composed/composed.h"
#include "core/source/composed/mix.h"
#include "core/source/open.h"
#include "core/source/packing/packing.h"
#include "tests/source/packing/packer.h"
#include "tests/source/source_support.h"
#include "tests/support/data_digest.h"

namespace dataline::packing_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint16_t kEot = 9;

ExpectedRow row_of(const Fetched& rows, size_t row) {
  return {values_of<uint16_t>(rows.bytes[0][row]), values_of<int32_t>(rows.bytes[1][row]),
          values_of<int32_t>(rows.bytes[2][row]), values_of<int32_t>(rows.bytes[3][row]),
          values_of<int32_t>(rows.bytes[4][row])};
}

// Documents of these lengths, whose tokens are all different.
Documents documents_of(const std::vector<int64_t>& lengths) {
  Documents documents;
  uint16_t next = 100;
  for (const int64_t length : lengths) {
    std::vector<uint16_t>& tokens = documents.emplace_back(static_cast<size_t>(length));
    for (uint16_t& token : tokens) token = next++;
  }
  return documents;
}

class PackingTest : public testing::Test {
 protected:
  // As a file with offsets.
  std::string write(const Documents& documents) {
    std::vector<uint16_t> tokens;
    std::vector<int64_t> offsets = {0};
    for (const std::vector<uint16_t>& document : documents) {
      tokens.insert(tokens.end(), document.begin(), document.end());
      offsets.push_back(static_cast<int64_t>(tokens.size()));
    }
    dir_.write("t.bin", raw_bytes(tokens));
    dir_.write("o.npy", npy_file("<i8", concat("(", offsets.size(), ",)"), raw_bytes(offsets)));
    return "tokens:" + dir_.path("t.bin") + "?documents=offsets:" + dir_.path("o.npy");
  }
  Result<SourceRef> pack(const std::string& uri, const PackOptions& options, IoMode io = IoMode::kAuto) {
    DL_ASSIGN_OR_RETURN(SourceRef source, open_source(uri, test_context(io)));
    return pack_source(std::move(source), options, test_context(io));
  }

  TempDir dir_;
};

// Golden rows: what is packed is fixed for ever, as saved states rely on it.
TEST_F(PackingTest, JoinedDocumentsAreCutIntoRows) {
  const std::string uri = write(documents_of({3, 6, 0, 1, 4}));
  SourceRef source = pack(uri, {.length = 4}).take();
  ASSERT_EQ(source->count(), 4);
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(
      row_of(rows, 0),
      (ExpectedRow{{100, 101, 102, 103}, {101, 102, -100, 104}, {1, 1, 1, 2}, {0, 1, 2, 0}, {0, 3, 4}}));
  EXPECT_EQ(row_of(rows, 1),
            (ExpectedRow{{104, 105, 106, 107}, {105, 106, 107, 108}, {1, 1, 1, 1}, {0, 1, 2, 3}, {0, 4}}));
  EXPECT_EQ(
      row_of(rows, 2),
      (ExpectedRow{{108, 109, 110, 111}, {-100, -100, 111, 112}, {1, 2, 3, 3}, {0, 0, 0, 1}, {0, 1, 2, 4}}));
  EXPECT_EQ(row_of(rows, 3),
            (ExpectedRow{{112, 113, 0, 0}, {113, -100, -100, -100}, {1, 1, 0, 0}, {0, 1, 0, 1}, {0, 2, 4}}));
}

TEST_F(PackingTest, FittedDocumentsStayWholeAndInOrder) {
  // Longest first: 9 = 8 + 1, then 5, 4, 3, 3, 2, 1 (the rest of 9): rows {5, 3}, {4, 3, 1}, {2}.
  const std::string uri = write(documents_of({3, 5, 9, 4, 2, 3}));
  SourceRef source = pack(uri, {.length = 8, .method = PackMethod::kBestFit}).take();
  ASSERT_EQ(source->count(), 4);
  EXPECT_EQ(source->schema().fields[4].max_bytes, 5 * 4) << "at most three documents, padding, the end";
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(row_of(rows, 0), (ExpectedRow{{100, 101, 102, 103, 104, 105, 106, 107},
                                          {101, 102, -100, 104, 105, 106, 107, -100},
                                          {1, 1, 1, 2, 2, 2, 2, 2},
                                          {0, 1, 2, 0, 1, 2, 3, 4},
                                          {0, 3, 8}}));
  EXPECT_EQ(row_of(rows, 1), (ExpectedRow{{108, 109, 110, 111, 112, 113, 114, 115},
                                          {109, 110, 111, 112, 113, 114, 115, 116},
                                          {1, 1, 1, 1, 1, 1, 1, 1},
                                          {0, 1, 2, 3, 4, 5, 6, 7},
                                          {0, 8}}));
  EXPECT_EQ(row_of(rows, 2), (ExpectedRow{{116, 117, 118, 119, 120, 123, 124, 125},
                                          {-100, 118, 119, 120, -100, 124, 125, -100},
                                          {1, 2, 2, 2, 2, 3, 3, 3},
                                          {0, 0, 1, 2, 3, 0, 1, 2},
                                          {0, 1, 5, 8}}));
  EXPECT_EQ(row_of(rows, 3), (ExpectedRow{{121, 122, 0, 0, 0, 0, 0, 0},
                                          {122, -100, -100, -100, -100, -100, -100, -100},
                                          {1, 1, 0, 0, 0, 0, 0, 0},
                                          {0, 1, 0, 1, 2, 3, 4, 5},
                                          {0, 2, 8}}));
}

RC_GTEST_FIXTURE_PROP(PackingTest, RowsAreThoseOfAPlainPackerInAnyOrderAndEveryTokenIsThereOnce, ()) {
  const auto length = *rc::gen::inRange<int64_t>(1, 40);
  const auto window = *rc::gen::inRange<int64_t>(1, 50);
  const bool fit = *rc::gen::arbitrary<bool>();
  const auto lengths = *rc::gen::container<std::vector<int64_t>>(
      rc::gen::oneOf(rc::gen::inRange<int64_t>(0, length + 1), rc::gen::inRange<int64_t>(0, 5 * length)));
  const auto io = *rc::gen::element(IoMode::kMmap, IoMode::kPread, IoMode::kMemory);
  const Documents documents = documents_of(lengths);
  const PlainRows plain =
      fit ? fit_plainly(documents, length, static_cast<size_t>(window)) : join_plainly(documents, length);
  const PackOptions options{
      .length = length, .method = fit ? PackMethod::kBestFit : PackMethod::kConcat, .window = window};
  Result<SourceRef> source = pack(write(documents), options, io);
  RC_ASSERT(source.is_ok());
  RC_ASSERT(source.value()->count() == static_cast<int64_t>(plain.size()));
  const auto order = *rc::gen::container<std::vector<int64_t>>(
      plain.empty() ? 0 : 30,
      rc::gen::inRange<int64_t>(0, std::max<int64_t>(static_cast<int64_t>(plain.size()), 1)));
  std::vector<uint16_t> tokens;
  for (const std::vector<int64_t>& indices : {order, std::vector<int64_t>()}) {
    const Fetched rows = indices.empty() ? fetch_all(*source.value()) : fetch(*source.value(), indices);
    RC_ASSERT(rows.errors.empty());
    for (size_t i = 0; i < rows.bytes[0].size(); ++i) {
      const size_t row = indices.empty() ? i : static_cast<size_t>(indices[i]);
      RC_ASSERT(row_of(rows, i) == expected_row(documents, plain[row], length));
      if (!indices.empty()) continue;
      const std::vector<int32_t> segment = row_of(rows, i).segment;
      for (size_t t = 0; t < segment.size(); ++t) {
        if (segment[t] > 0) tokens.push_back(row_of(rows, i).x[t]);
      }
    }
  }
  std::sort(tokens.begin(), tokens.end());
  std::vector<uint16_t> all(tokens.size());
  std::iota(all.begin(), all.end(), uint16_t{100});
  RC_ASSERT(tokens == all);
  RC_ASSERT(static_cast<int64_t>(all.size()) == std::accumulate(lengths.begin(), lengths.end(), int64_t{0}));
}

TEST_F(PackingTest, EveryIntegerTypeHasTargetsThatHoldIt) {
  for (auto [name, target] : std::vector<std::pair<std::string, std::string>>{{"u8", "i32"},
                                                                              {"i8", "i32"},
                                                                              {"u16", "i32"},
                                                                              {"i16", "i32"},
                                                                              {"i32", "i32"},
                                                                              {"u32", "i64"},
                                                                              {"u64", "i64"},
                                                                              {"i64", "i64"}}) {
    std::string data(48 * 8, '\0');
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 8 == 0 ? i / 8 + 1 : 0);
    dir_.write("t.bin", data);
    SourceRef source =
        pack("tokens:" + dir_.path("t.bin") + "?documents=eot:5&dtype=" + name, {.length = 32}).take();
    EXPECT_EQ(field_type_text(source->schema().fields[0]), name + "[32]");
    EXPECT_EQ(field_type_text(source->schema().fields[1]), target + "[32]");
    const int64_t bytes = dtype_bytes(*dtype_from_name(name)), wide = dtype_bytes(*dtype_from_name(target));
    const Fetched rows = fetch(*source, {0});
    for (int64_t t = 0; t + 1 < 32; ++t) {
      int64_t x = 0, y = 0;
      const auto low = [](const std::string& from, int64_t at) {
        return int64_t{static_cast<unsigned char>(from[static_cast<size_t>(at)])};
      };
      x = low(rows.bytes[0][0], (t + 1) * bytes);
      y = low(rows.bytes[1][0], t * wide);
      if (low(rows.bytes[0][0], t * bytes) == 5) continue;  // the last token of its document
      EXPECT_EQ(x, y) << name << " " << t;
    }
  }
}

TEST_F(PackingTest, KeysOfTheUriPackAllItsFilesTogether) {
  dir_.write("d/a.bin", raw_bytes(std::vector<uint16_t>{1, 2, kEot, 3}));
  dir_.write("d/b.bin", raw_bytes(std::vector<uint16_t>{4, kEot}));
  Result<SourceRef> source =
      open_source("tokens:" + dir_.path("d") + "?documents=eot:9&pack_length=6", test_context());
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  ASSERT_EQ(source.value()->count(), 1);
  const ExpectedRow row = row_of(fetch_all(*source.value()), 0);
  EXPECT_THAT(row.x, ElementsAre(1, 2, 9, 3, 4, 9));
  EXPECT_THAT(row.segment, ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(source.value()->info().notes,
              Contains(HasSubstr("packed (concat): 3 documents of 6 tokens (mean 2.00, longest 3) into 1 "
                                 "rows of 6: 3.00 documents a row, "
                                 "0.00 % padding")));
  EXPECT_EQ(source.value()->info().format, "tokens");
}

TEST_F(PackingTest, SubsetsAndArraysOfTheHostArePackedToo) {
  const std::vector<uint16_t> tokens = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> offsets = {0, 2, 5, 6};
  ArrayField field{.field = {"ids", FieldKind::kRagged, DType::kU16, {-1}, "", -1},
                   .data = reinterpret_cast<const std::byte*>(tokens.data()),
                   .row_stride = {},
                   .offsets = offsets.data(),
                   .item_count = 6};
  auto memory = HostMemory::create({});
  SourceRef arrays = array_source({field}, 3, {}, *memory).take();
  const std::vector<int64_t> indices = {2, 1, 2};
  SourceRef chosen = subset_source(arrays, indices, {}, *memory).take();
  SourceRef packed = pack_source(chosen, {.length = 5}, test_context()).take();
  EXPECT_THAT(row_of(fetch_all(*packed), 0).x, ElementsAre(6, 3, 4, 5, 6));
  EXPECT_THAT(row_of(fetch_all(*packed), 0).y, ElementsAre(-100, 4, 5, -100, -100));
}

TEST_F(PackingTest, WhatCannotBePackedSaysWhatIsNeeded) {
  const std::string uri = write(documents_of({3, 9, 4}));
  expect_error(pack(uri, {.length = 4, .method = PackMethod::kBestFit, .split = false}), Code::kTooLarge,
               {"t.bin", "document 1 has 9 tokens, pack_length is 4"});
  expect_error(pack(uri + "&pack_length=4", {.length = 4}), Code::kUnsupported,
               {"one ragged field of integers", "already packed"});
  expect_error(pack("tokens:" + dir_.path("t.bin") + "?length=4", {.length = 4}), Code::kUnsupported,
               {"got x u16[4], y u16[4]", "documents=eot"});
  const float values[2] = {0, 1};
  const int64_t offsets[2] = {0, 2};
  ArrayField field{.field = {"f", FieldKind::kRagged, DType::kF32, {-1}, "", -1},
                   .data = reinterpret_cast<const std::byte*>(values),
                   .row_stride = {},
                   .offsets = offsets,
                   .item_count = 2};
  auto memory = HostMemory::create({});
  expect_error(pack_source(array_source({field}, 1, {}, *memory).take(), {.length = 4}, test_context()),
               Code::kUnsupported, {"got f f32[-1]"});
  ReaderTable reader{.context = nullptr,
                     .record_count = 3,
                     .read = [](void*, ReaderRequest*) { return 0; },
                     .destroy = nullptr,
                     .fingerprint = {}};
  SourceRef read =
      reader_source({{"t", FieldKind::kRagged, DType::kU16, {-1}, "", -1}}, reader, *HostMemory::create({}))
          .take();
  expect_error(pack_source(read, {.length = 4}, test_context()), Code::kUnsupported,
               {"the length of sample 0 is not known"});
  SourceRef source = open_source(uri, test_context()).take();
  for (const char* key : {"pack_length=4", "pack_method=best_fit", "pack_window=4", "pack_split=true"}) {
    expect_error(open_source(concat("npy:t.npy?", key), test_context()), Code::kBadUri,
                 {"npy has no key 'pack_", "set it as an option"});
  }
  OpenContext cancelled = test_context();
  cancelled.cancel = std::make_shared<CancelToken>();
  cancelled.cancel->cancel();
  expect_error(pack_source(source, {.length = 4}, cancelled), Code::kCancelled, {"document 0 of 3"});
}

TEST_F(PackingTest, ADocumentOfManyRowsIsFoundAtOnce) {
  Documents documents = documents_of({7, 50'000, 3});
  const PackOptions options{.length = 4, .method = PackMethod::kBestFit};
  SourceRef source = pack(write(documents), options).take();
  const PlainRows plain = fit_plainly(documents, 4, 4096);
  ASSERT_EQ(source->count(), static_cast<int64_t>(plain.size()));
  for (const int64_t row :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{9'999}, source->count() - 2, source->count() - 1})
    EXPECT_EQ(row_of(fetch(*source, {row}), 0), expected_row(documents, plain[static_cast<size_t>(row)], 4))
        << row;
}

TEST_F(PackingTest, ABadRowNamesFileDocumentAndToken) {
  SourceRef source = pack(write(documents_of({3, 6, 4})), {.length = 4}).take();
  const Place place = source->place_of(2, 0);
  EXPECT_THAT(place.path, HasSubstr("t.bin"));
  EXPECT_EQ(place.within, "row 2, from token 5 of document 1, offset 6");
}

TEST_F(PackingTest, AFileThatIsCutFailsItsRowsAlone) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    SourceRef source = pack(write(documents_of({4000, 4000, 4000})), {.length = 4000}, io).take();
    const ReadSpan span{monotonic_ns(), monotonic_ns() + 1'000'000};
    std::filesystem::resize_file(dir_.path("t.bin"), 16'384);
    const Fetched rows = fetch_all(*source, {.opened_ns = span.opened_ns});
    EXPECT_EQ(rows.errors.size(), 1u) << "rows 0 and 1 are in the file";
    ASSERT_TRUE(rows.errors.contains(2));
    EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("t.bin"));
    EXPECT_EQ(rows.errors.at(2).sample_index(), 2);
  }
}

TEST_F(PackingTest, AFileThatIsCutWhileItIsCopiedIsFoundAfterwards) {
  SourceRef source = pack(write(documents_of({4000, 4000, 4000})), {.length = 4000}, IoMode::kMmap).take();
  const int64_t opened_ns = monotonic_ns();
  fetch_all(*source, {.opened_ns = opened_ns});
  std::filesystem::resize_file(dir_.path("t.bin"), 16'384);
  const ReadSpan span{opened_ns, monotonic_ns() + 1};
  EXPECT_FALSE(source->unchanged(span));
  const std::vector<int64_t> indices = {0, 1, 2};
  RowErrors errors;
  dataline::Run run;
  run.count = 3;
  run.indices = indices.data();
  run.errors = &errors;
  source->confirm(run, span);
  ASSERT_EQ(errors.all().size(), 1u);
  EXPECT_EQ(errors.all()[0].row, 2);
}

// Lengths as web text has them: lognormal, median 400, sigma 1.2. The normal draws are sums of uniform ones.
TEST_F(PackingTest, BestFitLeavesLessThanOnePercentAtTheDefaultWindow) {
  std::vector<int64_t> offsets = {0};
  for (uint64_t i = 0; i < 50'000; ++i) {
    double normal = -6;
    for (uint64_t k = 0; k < 12; ++k) normal += static_cast<double>(mix64(i * 12 + k) >> 11) * 0x1p-53;
    offsets.push_back(offsets.back() + 1 + static_cast<int64_t>(400 * std::exp(1.2 * normal)));
  }
  const uint16_t token = 1;  // no row is read
  ArrayField field{.field = {"ids", FieldKind::kRagged, DType::kU16, {-1}, "", -1},
                   .data = reinterpret_cast<const std::byte*>(&token),
                   .row_stride = {},
                   .offsets = offsets.data(),
                   .item_count = offsets.back()};
  auto memory = HostMemory::create({});
  int nobody = 0;
  SourceRef lengths = array_source({field}, 50'000, {&nobody, [](void*) {}}, *memory).take();
  for (const int64_t length : {1024, 2048, 4096, 8192}) {
    SourceRef packed =
        pack_source(lengths, {.length = length, .method = PackMethod::kBestFit}, test_context()).take();
    const auto room = static_cast<double>(packed->count() * length);
    EXPECT_LT((room - static_cast<double>(offsets.back())) / room, 0.01) << length;
  }
}

TEST_F(PackingTest, DocumentsOfANamedPathArePackedAsThoseOfAPathAlone) {
  dir_.write("t.bin", raw_bytes(std::vector<uint16_t>{1, 2, 3, kEot, 4, 5, kEot, 6}));
  const std::string path = dir_.path("t.bin"), keys = "?documents=eot:" + std::to_string(kEot);
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    const SourceRef alone = pack("tokens:" + path + keys, {.length = 4}, io).take();
    const SourceRef named = pack("tokens:text=" + path + keys, {.length = 4}, io).take();
    const Fetched expected = fetch_all(*alone), got = fetch_all(*named);
    EXPECT_EQ(got.errors.size(), 0u);
    EXPECT_EQ(got.bytes, expected.bytes);
  }
}

TEST_F(PackingTest, OtherLengthsAndOptionsAreAnotherDataset) {
  const auto identity = [](const Source& source) {
    return std::pair(std::string(source.facts().packing), data_digest(source));
  };
  const Documents documents = documents_of({3, 5, 2, 6});
  const PackOptions options{.length = 8, .method = PackMethod::kBestFit, .window = 4};
  const auto first = identity(*pack(write(documents), options).take());
  EXPECT_EQ(identity(*pack(write(documents), options).take()), first);
  EXPECT_THAT(first.first, HasSubstr("best_fit, length 8, window 4, split true, rows 2, table "));
  for (const PackOptions& other :
       {PackOptions{.length = 8}, PackOptions{.length = 8, .method = PackMethod::kBestFit, .window = 3},
        PackOptions{.length = 8, .method = PackMethod::kBestFit, .window = 4, .split = false}}) {
    EXPECT_NE(identity(*pack(write(documents), other).take()), first);
  }
  // As many rows, as many tokens in the file.
  EXPECT_NE(identity(*pack(write(documents_of({5, 3, 2, 6})), options).take()).first, first.first);
}

}  // namespace
}  // namespace dataline::packing_test
