// What tests of formats whose records are text (CSV, JSON lines) share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/support/data_digest.h"

namespace dataline {

class TextRecordsTest : public testing::Test {
 protected:
  explicit TextRecordsTest(std::string scheme) : scheme_(std::move(scheme)) {}

  // Of a file with this text; `keys` as in a URI, with the question mark.
  Result<SourceRef> try_open(const std::string& text, const std::string& keys = "",
                             IoMode io = IoMode::kAuto) {
    return open_source(scheme_ + ":" + dir_.write("a." + scheme_, text) + keys, test_context(io));
  }
  SourceRef open(const std::string& text, const std::string& keys = "", IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = try_open(text, keys, io);
    EXPECT_TRUE(source.is_ok()) << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  std::vector<std::string> types(const Source& source) {
    std::vector<std::string> out;
    for (const Field& field : source.schema().fields)
      out.push_back(field.name + ": " + field_type_text(field));
    return out;
  }
  // Field `f` of all records, read in every I/O mode alike.
  std::vector<std::string> values(const std::string& text, const std::string& keys = "", size_t f = 0) {
    std::vector<std::string> out = fetch_all(*open(text, keys)).bytes[f];
    for (const IoMode io : {IoMode::kPread, IoMode::kMemory}) {
      const SourceRef source = open(text, keys, io);
      EXPECT_EQ(fetch_all(*source).bytes[f], out);
      EXPECT_EQ(fetch_all(*source, {.cold = true}).bytes[f], out);
    }
    return out;
  }
  uint64_t identity(const std::string& text, const std::string& keys) {
    return data_digest(*open(text, keys));
  }
  // Whether the first field of the first record is handed out of the source's scratch, and not where it lies.
  bool is_copied(const std::string& text) {
    const SourceRef source = open(text, "", IoMode::kMmap);
    const int64_t index = 0;
    RunArrays arrays(*source);
    RowErrors errors;
    std::vector<std::byte> scratch(static_cast<size_t>(source->scratch_bytes(4096)) + 64);
    dataline::Run run;
    run.count = 1;
    run.indices = &index;
    run.max_bytes_per_sample = 4096;
    run.scratch = scratch.data();
    run.columns = arrays.columns.data();
    run.errors = &errors;
    source->locate(run);
    EXPECT_TRUE(errors.empty());
    return arrays.data[0][0] >= scratch.data() && arrays.data[0][0] < scratch.data() + scratch.size();
  }
  // Files without a scheme, in natural order, are one set.
  void expect_one_set_of_a_directory(const std::string& first, const std::string& second) {
    dir_.write("set/part-10." + scheme_, second);
    dir_.write("set/part-2." + scheme_, first);
    for (const std::string& uri : {scheme_ + ":" + dir_.path("set"), dir_.path("set")}) {
      Result<SourceRef> source = open_source(uri, test_context());
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      EXPECT_EQ(source.value()->count(), 3);
      EXPECT_EQ(values_of<int64_t>(fetch_all(*source.value()).bytes[0][0])[0], 1);
    }
    EXPECT_EQ(open_source(dir_.path("set/part-2." + scheme_), test_context()).take()->info().format, scheme_);
  }
  // Each file infers its own types: what to do is said where they differ.
  void expect_advice_where_types_differ(const std::string& first, const std::string& second) {
    dir_.write("mixed/0." + scheme_, first);
    dir_.write("mixed/1." + scheme_, second);
    expect_error(open_source(scheme_ + ":" + dir_.path("mixed"), test_context()), Code::kMismatch,
                 {"field 'a' is f64", "it is i64", "fields are inferred from each file: declare them"});
    EXPECT_TRUE(open_source(scheme_ + ":" + dir_.path("mixed") + "?fields=a:f64", test_context()).is_ok());
  }

  TempDir dir_;

 private:
  const std::string scheme_;
};

}  // namespace dataline
