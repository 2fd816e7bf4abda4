// A table of damaged files: each names its exact error, costs next to no memory, and spoils nothing for the
// next good file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/support/peak_growth.h"
#include "tests/support/sweep_stride.h"

namespace dataline {

struct BadFile {
  std::string name;   // what is wrong
  std::string bytes;  // of the file
  Code code;
  std::vector<std::string> parts;  // of the message, besides the path
};

using OpenFile = std::function<Result<SourceRef>(const std::string& path, const OpenContext& context)>;

inline void expect_refused(const BadFile& bad, const std::string& path, const OpenFile& open) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    OpenContext context = test_context(io);
    Result<SourceRef> source = open(path, context);
    ASSERT_FALSE(source.is_ok()) << "expected " << code_name(bad.code);
    EXPECT_EQ(source.status().code(), bad.code) << source.status().message();
    EXPECT_EQ(source.status().message().rfind(path + ": ", 0), 0u) << source.status().message();
    EXPECT_EQ(source.status().message().find_first_of(std::string("\n\r\t\0", 4)), std::string::npos);
    for (const std::string& part : bad.parts) {
      EXPECT_NE(source.status().message().find(part), std::string::npos)
          << "'" << part << "' is not in: " << source.status().message();
    }
    EXPECT_EQ(context.memory->in_use_bytes(), 0);
    EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
  }
}

// Every file of the table, in every I/O mode, a good file after each. `least`: the rows that a format's table must have.
inline void check_bad_files(const std::vector<BadFile>& table, const std::string& good, const OpenFile& open,
                            const std::string& suffix = ".bin", size_t least = 40) {
  TempDir dir;
  std::string good_path = dir.write("good" + suffix, good);
  PeakGrowth growth;
  for (const BadFile& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_refused(bad, dir.write("bad" + suffix, bad.bytes), open);
    EXPECT_TRUE(open(good_path, test_context()).is_ok()) << "the next good file";
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  EXPECT_GE(table.size(), least);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

// A record that is wrong in a file that is none: refused when it is read.
struct BadRecord {
  std::string name, text;
  Code code;
  std::vector<std::string> parts;
};

// `before`, then each between two good records, in every I/O mode: a bad sample whose message begins with the file and `place`, and
// the next is read.
inline void check_bad_records(const std::vector<BadRecord>& table, const std::string& before,
                              const std::string& good, const OpenFile& open, const std::string& suffix,
                              const std::string& place) {
  TempDir dir;
  for (const BadRecord& bad : table) {
    SCOPED_TRACE(bad.name);
    const std::string path = dir.write("bad" + suffix, before + good + bad.text + "\n" + good);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      Result<SourceRef> source = open(path, test_context(io));
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      const Fetched rows = fetch_all(*source.value());
      ASSERT_EQ(rows.errors.size(), 1u);
      const Status& status = rows.errors.at(1);
      EXPECT_EQ(status.code(), bad.code) << status.message();
      EXPECT_EQ(status.message().rfind(concat(path, ": ", place, ": "), 0), 0u) << status.message();
      for (const std::string& part : bad.parts) EXPECT_THAT(status.message(), ::testing::HasSubstr(part));
      for (const auto& column : rows.bytes) EXPECT_EQ(column[2], column[0]) << "the next good one";
    }
  }
}

struct BadKey {
  std::string key, part;  // of the message
};
// `uri`: of a good file, without keys.
inline void check_bad_keys(const std::vector<BadKey>& table, const std::string& uri) {
  for (const BadKey& bad : table) {
    Result<SourceRef> source = open_source(uri + "?" + bad.key, test_context());
    expect_error(source, Code::kBadUri, {bad.part});
    EXPECT_GT(source.status().column(), 0) << bad.key;
  }
}

// Every prefix that is shorter than the file is kTruncated.
inline void check_prefixes(const std::string& good, const OpenFile& open,
                           const std::string& suffix = ".bin") {
  TempDir dir;
  for (size_t length = 0; length < good.size(); ++length) {
    Result<SourceRef> source = open(dir.write("cut" + suffix, good.substr(0, length)), test_context());
    ASSERT_FALSE(source.is_ok()) << length << " bytes of " << good.size();
    EXPECT_EQ(source.status().code(), Code::kTruncated) << length << ": " << source.status().message();
  }
}

// Every flip of one bit: an error, or a source whose records all lie in the file and can be fetched.
inline void check_bit_flips(const std::string& good, const OpenFile& open,
                            const std::string& suffix = ".bin") {
  TempDir dir;
  for (size_t bit = 0; bit < good.size() * 8; bit += static_cast<size_t>(sweep_stride())) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    OpenContext context = test_context();
    Result<SourceRef> source = open(dir.write("flipped" + suffix, flipped), context);
    EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
    if (!source.is_ok()) continue;
    ASSERT_LE(source.value()->count() * source.value()->schema().fields[0].bytes(), 1 << 20);
    EXPECT_TRUE(fetch_all(*source.value()).errors.empty()) << "bit " << bit;
  }
}

}  // namespace dataline
