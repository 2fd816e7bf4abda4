// Datasets of Arrow tables in memory: who holds them, and tables that contradict themselves.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>
#include <thread>

#include "tests/capi/arrow_tables.h"
#include "tests/capi/host_data.h"

namespace dataline::tests::arrow_in_test {
namespace {

using ::testing::HasSubstr;

Made from_array(CTable& table, const char* keys = nullptr) {
  Made out;
  ArrowSchema schema = table.schema();
  ArrowArray array = table.array();
  dl_dataset* dataset = nullptr;
  out.status = dl_dataset_from_arrow_array(&schema, &array, keys, nullptr, &dataset, &out.error);
  EXPECT_EQ(schema.release, nullptr) << "taken in any case";
  EXPECT_EQ(array.release, nullptr);
  out.dataset.reset(dataset);
  return out;
}

Made from_stream(ArrowArrayStream stream, const char* keys = nullptr) {
  Made out;
  dl_dataset* dataset = nullptr;
  out.status = dl_dataset_from_arrow(&stream, keys, nullptr, &dataset, &out.error);
  EXPECT_EQ(stream.release, nullptr) << "taken in any case";
  out.dataset.reset(dataset);
  return out;
}

// What lies in the buffers of most cases.
const std::vector<int32_t> kNumbers = {10, 11, 12, 13, 14, 15, 16, 17};
const std::vector<int32_t> kOffsets = {0, 1, 3, 3, 6};
constexpr char kText[] = "abcdef";
constexpr uint8_t kBits[] = {0b10110101, 0b01};

CColumn text(std::vector<const void*> buffers = {nullptr, kOffsets.data(), kText}) {
  return {"u", "t", 4, 0, 0, std::move(buffers)};
}

std::string sample(const Dataset& dataset, int64_t index, int32_t field = 0) {
  Error error;
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_dataset_read(dataset.get(), index, nullptr, &batch, &error), DL_OK) << error.message;
  const Batch owned(batch);
  return batch == nullptr ? "" : row_bytes(batch, field);
}

int32_t number(const Dataset& dataset, int64_t index) {
  int32_t out = 0;
  const std::string bytes = sample(dataset, index);
  EXPECT_EQ(bytes.size(), sizeof out);
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
  return out;
}

TEST(ArrowIn, ADatasetHoldsTheArraysUntilAllThatCameOfItIsGone) {
  CTable table(c_table(8, {c_numbers("x", kNumbers)}));
  Made made = from_stream(table.stream(3));
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  EXPECT_EQ(table.streams_released, 1) << "read and done";
  EXPECT_EQ(dl_dataset_count(made.dataset.get()), 24);
  EXPECT_STREQ(dl_dataset_format(made.dataset.get()), "arrow");
  EXPECT_EQ(number(made.dataset, 9), 11);
  Loader loader = make_loader(made.dataset, {{"batch_size", "24"}, {"num_workers", "2"}});
  made.dataset.reset();
  EXPECT_EQ(table.released, 0);
  ASSERT_EQ(next(loader).status, DL_OK);
  loader.reset();
  EXPECT_EQ(table.released, 3);
}

TEST(ArrowIn, WhatFailsIsReleasedAsWell) {
  CTable table(c_table(8, {c_numbers("x", kNumbers)}));
  Made made = from_stream(table.stream(3, 2));
  EXPECT_EQ(made.status, DL_ERR_READER);
  EXPECT_THAT(made.error.message, HasSubstr("get_next failed: Input/output error"));
  EXPECT_EQ(table.released, 2);
  EXPECT_EQ(table.streams_released, 1);
  table.why = "the host has its reasons";
  EXPECT_THAT(from_stream(table.stream(3, 0)).error.message, HasSubstr("the host has its reasons"));
  EXPECT_EQ(from_array(table, "fields=y").status, DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(table.released, 3);
  ArrowArrayStream stream = table.stream(1);
  EXPECT_EQ(dl_dataset_from_arrow(&stream, nullptr, nullptr, nullptr, nullptr), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(stream.release, nullptr) << "also where there is no room for the result";
  EXPECT_EQ(from_stream(stream).status, DL_ERR_INVALID_ARGUMENT) << "already released";
}

TEST(ArrowIn, SlicesOfTablesAndOfColumnsAreCounted) {
  CColumn root = c_table(3, {c_numbers("x", kNumbers)});
  root.offset = 2;              // rows 2, 3, 4 of its columns
  root.children[0].offset = 1;  // which begin at the second number
  root.children[0].length = 6;
  CTable table(root);
  const Made made = from_array(table);
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  EXPECT_EQ(number(made.dataset, 0), 13);
  EXPECT_EQ(number(made.dataset, 2), 15);
  EXPECT_EQ(dl_dataset_count(made.dataset.get()), 3);
}

TEST(ArrowIn, ListsInSlicesOfStructsInSlicesAreFound) {
  const CColumn items{"i", "item", 7, 0, 1, {nullptr, kNumbers.data()}};  // 11 and on
  CColumn list{"+l", "l", 4, 0, 0, {nullptr, kOffsets.data()}, {items}};
  CColumn inner{"+s", "s", 3, 0, 1, {nullptr}, {list}};
  CTable table(c_table(3, {inner}));
  const Made made = from_array(table);
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  int32_t count = 0;
  EXPECT_STREQ(dl_dataset_fields(made.dataset.get(), &count)->name, "s/l");
  // Row 0 is row 1 of the list: items 1 and 2.
  EXPECT_EQ(sample(made.dataset, 0), bytes_of(std::vector<int32_t>{12, 13}));
  EXPECT_EQ(sample(made.dataset, 1), "");
  EXPECT_EQ(sample(made.dataset, 2), bytes_of(std::vector<int32_t>{14, 15, 16}));
}

TEST(ArrowIn, BitsAndNullsOfSlicesBeginAnywhere) {
  const CColumn flags{"b", "f", 5, -1, 3, {kBits, kBits}};  // bits 3 to 7: 0 1 1 0 1
  CTable table(c_table(5, {flags}));
  const Made made = from_array(table);
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  EXPECT_EQ(sample(made.dataset, 1), "\1");
  Error error;
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_dataset_read(made.dataset.get(), 3, nullptr, &batch, &error), DL_ERR_BAD_SAMPLE);
  EXPECT_THAT(error.message, HasSubstr("Arrow data: field 'f': record batch 0, row 3: a null"));
  CTable again(c_table(5, {flags}));
  EXPECT_EQ(sample(from_array(again, "nulls=fill(1)").dataset, 3), "\1");
}

struct BadTable {
  std::string name;
  CColumn root;
  dl_status status;
  std::vector<std::string> parts;
};

CColumn nested(int depth) {
  CColumn out = c_numbers("x", kNumbers);
  for (int d = 0; d < depth; ++d) out = {"+w:1", "x", 8, 0, 0, {nullptr}, {out}};
  return out;
}
CColumn coded(int64_t values, std::vector<const void*> buffers) {
  CColumn out = c_numbers("c", kOffsets);
  out.length = 4;
  out.dictionary = std::make_shared<CColumn>(CColumn{"i", "", values, 0, 0, std::move(buffers)});
  return out;
}
CColumn with(CColumn column, const std::function<void(CColumn&)>& change) {
  change(column);
  return column;
}

std::vector<BadTable> types() {
  const auto of_format = [](const char* format) {
    return c_table(1, {{format, "x", 1, 0, 0, {nullptr, kNumbers.data(), kText}}});
  };
  return {
      {"an unknown letter", of_format("q"), DL_ERR_UNSUPPORTED, {"'x'", "the format 'q' is not known"}},
      {"no format", of_format(""), DL_ERR_UNSUPPORTED, {"the format '' is not known"}},
      {"a size that is no number", of_format("w:many"), DL_ERR_UNSUPPORTED, {"'w:many'"}},
      {"a size below 0", of_format("w:-1"), DL_ERR_UNSUPPORTED, {"'w:-1'"}},
      {"a size beyond 2^63", of_format("w:99999999999999999999"), DL_ERR_UNSUPPORTED, {"is not known"}},
      {"a size beyond what a sample has", of_format("w:9223372036854775807"), DL_ERR_TOO_LARGE, {"'x'"}},
      {"a timestamp without a colon", of_format("tsu"), DL_ERR_UNSUPPORTED, {"'tsu'"}},
      {"a unit that is none", of_format("ttx"), DL_ERR_UNSUPPORTED, {"'ttx'"}},
      {"a decimal", of_format("d:9,2"), DL_ERR_UNSUPPORTED, {"'x' is decimal128"}},
      {"nulls alone", of_format("n"), DL_ERR_UNSUPPORTED, {"'x' is null"}},
      {"an interval", of_format("tiM"), DL_ERR_UNSUPPORTED, {"interval"}},
      {"a list without children", of_format("+l"), DL_ERR_CORRUPT, {"0 children, expected 1"}},
      {"a number with a child",
       c_table(8, {with(c_numbers("x", kNumbers), [](CColumn& c) { c.children = {c}; })}),
       DL_ERR_CORRUPT,
       {"1 children, expected 0"}},
      {"too deep", c_table(8, {nested(70)}), DL_ERR_TOO_LARGE, {"deeper than 64"}},
      {"indices of text",
       c_table(4, {with(coded(1, {}), [](CColumn& c) { c.format = "u"; })}),
       DL_ERR_CORRUPT,
       {"indices of its dictionary have the format 'u'"}},
      {"two columns of one name",
       c_table(8, {c_numbers("x", kNumbers), c_numbers("x", kNumbers)}),
       DL_ERR_UNSUPPORTED,
       {"2 columns are called 'x'"}},
      {"no columns", c_table(8, {}), DL_ERR_UNSUPPORTED, {"a table without columns"}},
  };
}

std::vector<BadTable> arrays() {
  const auto numbers = [](const std::function<void(CColumn&)>& change) {
    return c_table(8, {with(c_numbers("x", kNumbers), change)});
  };
  return {
      {"rows below 0", c_table(-1, {c_numbers("x", kNumbers)}), DL_ERR_CORRUPT, {"has -1 rows"}},
      {"rows beyond 2^62",
       c_table(INT64_MAX, {c_numbers("x", kNumbers)}),
       DL_ERR_CORRUPT,
       {"rows from offset 0"}},
      {"more rows than the column",
       c_table(9, {c_numbers("x", kNumbers)}),
       DL_ERR_CORRUPT,
       {"an array of 8 values inside one of 9"}},
      {"an offset below 0", numbers([](CColumn& c) { c.offset = -1; }), DL_ERR_CORRUPT, {"from offset -1"}},
      {"a length below 0", numbers([](CColumn& c) { c.length = -8; }), DL_ERR_CORRUPT, {"-8 values"}},
      {"fewer children than columns",
       with(c_table(8, {c_numbers("x", kNumbers)}), [](CColumn& c) { c.said_children = 0; }),
       DL_ERR_CORRUPT,
       {"0 children, but its schema has more"}},
      {"no buffers", numbers([](CColumn& c) { c.buffers = {}; }), DL_ERR_CORRUPT, {"'x'", "0 buffers"}},
      {"no buffer for values",
       numbers([](CColumn& c) {
         c.buffers = {nullptr, nullptr};
       }),
       DL_ERR_CORRUPT,
       {"'x'", "no buffer for 8 values"}},
      {"a list longer than its items would be",
       c_table(8, {{"+w:4611686018427387904", "x", 8, 0, 0, {nullptr}, {c_numbers("y", kNumbers)}}}),
       DL_ERR_TOO_LARGE,
       {"'x'"}},
      {"a fixed list of too few items",
       c_table(8, {{"+w:2", "x", 8, 0, 0, {nullptr}, {c_numbers("y", kNumbers)}}}),
       DL_ERR_CORRUPT,
       {"an array of 8 values inside one of 8", "needs 2 for each"}},
      {"texts without offsets",
       c_table(4, {text({nullptr, nullptr, kText})}),
       DL_ERR_CORRUPT,
       {"'t'", "no buffer"}},
      {"texts without bytes",
       c_table(4, {text({nullptr, kOffsets.data(), nullptr})}),
       DL_ERR_CORRUPT,
       {"its last offset is 6, but it has no bytes"}},
      {"no dictionary",
       c_table(4,
               {with(coded(1, {nullptr, kNumbers.data()}), [](CColumn& c) { c.dictionary->length = -1; })}),
       DL_ERR_CORRUPT,
       {"has -1 rows"}},
      {"a dictionary without values",
       c_table(4, {coded(3, {nullptr, nullptr})}),
       DL_ERR_CORRUPT,
       {"'c'", "no buffer"}},
      {"rows that are null",
       with(c_table(8, {c_numbers("x", kNumbers)}), [](CColumn& c) { c.buffers = {kBits}, c.nulls = -1; }),
       DL_ERR_UNSUPPORTED,
       {"rows that are null"}},
      {"views without sizes of their buffers",
       c_table(1, {{"vu", "v", 1, 0, 0, {nullptr, kNumbers.data()}}}),
       DL_ERR_CORRUPT,
       {"'v'", "2 buffers"}},
  };
}

TEST(ArrowIn, TablesThatContradictThemselvesAreRefusedByNameAndReleased) {
  std::vector<BadTable> all = types();
  for (BadTable& more : arrays()) all.push_back(std::move(more));
  for (const BadTable& bad : all) {
    SCOPED_TRACE(bad.name);
    CTable table(bad.root);
    const Made made = from_array(table);
    EXPECT_EQ(made.status, bad.status) << made.error.message;
    EXPECT_THAT(made.error.message, HasSubstr("Arrow data: "));
    for (const std::string& part : bad.parts) EXPECT_THAT(made.error.message, HasSubstr(part));
    EXPECT_EQ(table.released, 1);
  }
}

TEST(ArrowIn, RowsThatLeaveTheirBuffersAreBadByThemselves) {
  static const std::vector<int32_t> kBack = {0, 4, 2, 3, 6};
  CTable texts(c_table(4, {text({nullptr, kBack.data(), kText})}));
  CTable codes(c_table(4, {coded(3, {nullptr, kNumbers.data()})}));  // indices 0, 1, 3, 3
  for (CTable* table : {&texts, &codes}) {
    const Made made = from_array(*table);
    ASSERT_EQ(made.status, DL_OK) << made.error.message;
    const Loader loader = make_loader(made.dataset, {{"batch_size", "1"}, {"shuffle", "none"}});
    int64_t good = 0, refused = 0;
    for (Delivered got = next(loader); got.status != DL_END_OF_EPOCH; got = next(loader)) {
      ASSERT_TRUE(got.status == DL_OK || got.status == DL_ERR_BAD_SAMPLE) << got.message;
      ++(got.status == DL_OK ? good : refused);
    }
    EXPECT_EQ(good, table == &texts ? 3 : 2);
    EXPECT_EQ(good + refused, 4);
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, nullptr), DL_OK);
    EXPECT_THAT(bad.message,
                HasSubstr(table == &texts ? "offsets are 4 and 2" : "index 3 of a dictionary of 3"));
  }
}

TEST(ArrowIn, KeysThatAreNoneSayWhereAndWhich) {
  const auto message = [](const char* keys) {
    CTable table(c_table(8, {c_numbers("x", kNumbers)}));
    const Made made = from_array(table, keys);
    EXPECT_EQ(made.status, DL_ERR_BAD_URI) << keys;
    return std::string(made.error.message);
  };
  EXPECT_THAT(message("fields=x&depth=3"),
              HasSubstr("column 10: a table in memory has no key 'depth' (keys: fields, nulls)"));
  EXPECT_THAT(message("fields"), HasSubstr("column 1: key 'fields' needs a value"));
  EXPECT_THAT(message("nulls=none"), HasSubstr("expected error, fill(NUMBER) or mask"));
}

TEST(ArrowIn, ThreadsReadOneTableTogether) {
  CTable table(c_table(8, {c_numbers("x", kNumbers)}));
  Made made = from_stream(table.stream(100));
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < 800; i += 7) sum += number(made.dataset, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t expected = 0;
  for (int64_t i = 0; i < 800; i += 7) expected += 3 * kNumbers[static_cast<size_t>(i % 8)];
  EXPECT_EQ(sum.load(), expected);
  made.dataset.reset();
  EXPECT_EQ(table.released, 100);
}

}  // namespace
}  // namespace dataline::tests::arrow_in_test
