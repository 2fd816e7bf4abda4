// A file without samples among others: no error, in every format of several files. All files without samples: as one alone.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/gzip_files.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/source/litdata/litdata_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"
#include "tests/source/tar/tar_files.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::empty_shards_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Empties {
  std::string scheme, suffix, keys;
  std::string good;  // a file of samples
  std::vector<std::string> empty;
};

// A file of u8 rows.
std::string tensors(const std::string& rows) {
  const std::string header = concat("{\"x\":{\"dtype\":\"U8\",\"shape\":[", rows.size(),
                                    "],\"data_offsets\":[0,", rows.size(), "]}}");
  return raw_bytes(static_cast<uint64_t>(header.size())) + header + rows;
}

std::vector<Empties> formats() {
  const std::string nothing, mark = "\xef\xbb\xbf", zeros(1024, '\0');
  return {
      {"csv",
       "csv",
       "",
       "a,t\n1,x\n2,y\n",
       {nothing, mark, "\n\n", "a,t\n", "a,t", "a,t\r\n\r\n", mark + "a,t\n"}},
      {"csv", "csv", "?fields=a:i64", "a,t\n1,x\n2,y\n", {nothing, "\n", "a,t\n"}},
      {"csv", "csv", "?header=false", "1,x\n2,y\n", {nothing, "\n\r\n"}},
      {"csv", "csv", "?header=false&fields=column0:i64", "1,x\n2,y\n", {nothing, "\n\r\n"}},
      {"jsonl", "jsonl", "", "{\"a\": 1}\n{\"a\": 2}\n", {nothing, mark, "\n", "  \r\n\t\n"}},
      {"jsonl", "jsonl", "?fields=a:i64", "{\"a\": 1}\n{\"a\": 2}\n", {nothing, "\n"}},
      {"tfrecord",
       "tfrecord",
       "",
       example_record({{"a", int_feature({1})}}) + example_record({{"a", int_feature({2})}}),
       {nothing}},
      {"tfrecord", "tfrecord", "", record("one") + record("two"), {nothing}},
      {"tar",
       "tar",
       "",
       tar_member("a.cls", "1") + tar_member("b.cls", "2") + tar_end(),
       {nothing, zeros, tar_end(20)}},
      {"safetensors", "safetensors", "", tensors("ab"), {nothing, tensors("")}},
      {"npy", "npy", "", npy_file("|u1", "(2,)", "ab"), {nothing, npy_file("|u1", "(0,)", "")}},
      {"idx", "idx", "", big_u32(0x801) + big_u32(2) + "ab", {nothing, big_u32(0x801) + big_u32(0)}},
      {"raw", "bin", "?dtype=u8", "ab", {nothing}},
      {"tokens", "bin", "?dtype=u8&length=4", "abcdabcda", {nothing, "ab"}},
  };
}

class EmptyShards : public testing::Test {
 protected:
  Result<SourceRef> open(const std::string& uri, BadFiles bad_files = BadFiles::kError) {
    OpenContext context = test_context();
    context.bad_files = bad_files;
    return open_source(uri, context);
  }
  // So many samples, all of which can be read.
  void expect_samples(const std::string& uri, int64_t count, BadFiles bad_files = BadFiles::kError) {
    const Result<SourceRef> source = open(uri, bad_files);
    ASSERT_TRUE(source.is_ok()) << uri << ": " << source.status().message();
    EXPECT_EQ(source.value()->count(), count) << uri;
    EXPECT_TRUE(fetch_all(*source.value()).errors.empty()) << uri;
    for (const std::string& note : source.value()->info().notes) EXPECT_FALSE(is_loss(note)) << note;
  }

  TempDir dir_;
};

TEST_F(EmptyShards, OneAmongOthersAddsNoSamples) {
  int at = 0;
  for (const Empties& format : formats()) {
    for (const std::string& empty : format.empty) {
      for (const int place : {0, 1, 2}) {
        const std::string folder = concat("set", at++),
                          uri = format.scheme + ":" + dir_.path(folder) + format.keys;
        SCOPED_TRACE(uri);
        std::string list;
        for (int i = 0; i < 3; ++i) {
          const std::string path =
              dir_.write(concat(folder, "/", i, ".", format.suffix), i == place ? empty : format.good);
          list += (list.empty() ? "" : ",") + path;
        }
        for (const BadFiles bad_files : {BadFiles::kError, BadFiles::kSkip, BadFiles::kKeep})
          expect_samples(uri, 4, bad_files);
        expect_samples(format.scheme + ":" + list + format.keys, 4);
      }
    }
  }
}

TEST_F(EmptyShards, ANoteNamesThemAllTogether) {
  dir_.write("set/0.csv", "a\n1\n");
  dir_.write("set/1.csv", "");
  EXPECT_THAT(open("csv:" + dir_.path("set")).take()->info().notes, Contains("1 file has no samples: 1.csv"));
  dir_.write("set/2.csv", "a\n");
  EXPECT_THAT(open("csv:" + dir_.path("set")).take()->info().notes,
              Contains("2 files have no samples: 1.csv, 2.csv"));
}

TEST_F(EmptyShards, OnlyEmptyOnesAreWhatOneIs) {
  int at = 0;
  for (const Empties& format : formats()) {
    for (const std::string& empty : format.empty) {
      const std::string folder = concat("set", at++);
      const Result<SourceRef> one =
          open(format.scheme + ":" + dir_.write(folder + "/0." + format.suffix, empty) + format.keys);
      dir_.write(folder + "/1." + format.suffix, empty);
      const Result<SourceRef> all = open(format.scheme + ":" + dir_.path(folder) + format.keys);
      ASSERT_EQ(all.is_ok(), one.is_ok()) << format.scheme;
      EXPECT_EQ(all.status().code(), one.status().code()) << all.status().message();
      if (all.is_ok()) {
        EXPECT_EQ(all.value()->count(), 0);
      }
    }
  }
}

TEST_F(EmptyShards, CompressedNothingIsNothing) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  for (const std::string& empty : {std::string(), gzip_stored(""), gzip_stored("") + std::string(9, '\0')}) {
    dir_.write("set/0.csv.gz", empty);
    dir_.write("set/1.csv.gz", gzip_stored("a\n1\n"));
    expect_samples("csv:" + dir_.path("set"), 1);
    dir_.write("idx/0.idx.gz", empty);
    dir_.write("idx/1.idx.gz", gzip_stored(big_u32(0x801) + big_u32(2) + "ab"));
    expect_samples("idx:" + dir_.path("idx"), 2);
  }
}

// What is lost is no sample that never was.
TEST_F(EmptyShards, AFileThatLostAllItsRecordsIsDamaged) {
  dir_.write("set/0.jsonl", "{\"a\": 1}\n");
  dir_.write("set/1.jsonl", "{\"a\": 1}");
  expect_error(open("jsonl:" + dir_.path("set") + "?end=cut"), Code::kCorrupt, {"1.jsonl", "no lines"});
}

TEST_F(EmptyShards, AShardOfAnIndexWithoutSamplesIsNotOpened) {
  const MdsFile some = mds_file({"a", "b"}), none = mds_file({});
  dir_.write("m/0.mds", "");
  dir_.write("m/1.mds", some.bytes());
  std::string entry = mds_entry(none, "0.mds");
  entry.replace(entry.find("\"bytes\": ") + 9, std::to_string(none.bytes().size()).size(), "0");
  dir_.write("m/index.json", mds_index({entry, mds_entry(some, "1.mds")}));
  expect_samples("mds:" + dir_.path("m"), 2);
  dir_.write("m/index.json", mds_index({entry}));
  expect_error(open("mds:" + dir_.path("m")), Code::kTruncated, {"0.mds"});
  dir_.write("l/1.bin", lit_chunk({"a", "b"}).bytes());
  dir_.write(
      "l/index.json",
      lit_index({lit_entry(LitChunk{}, "0.bin"), lit_entry(lit_chunk({"a", "b"}), "1.bin")}, lit_config()));
  expect_samples("litdata:" + dir_.path("l"), 2);
}

}  // namespace
}  // namespace dataline::empty_shards_test
