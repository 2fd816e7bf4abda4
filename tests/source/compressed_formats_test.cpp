// Compressed files as tools write them, in every format that reads them: .gz of several members, of bgzip, with zeros behind
// members; .zst with skippable frames.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/source/compressed_file.h"
#include "core/source/open.h"
#include "tests/source/frame_files.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::compressed_formats_test {
namespace {

// A member as bgzip writes it: its extra field has the bytes of the member, less one.
std::string bgzip_member(std::string_view data) {
  const std::string deflate = stored_deflate(data);
  const auto bytes = static_cast<uint16_t>(18 + deflate.size() + 8 - 1);
  const std::string extra = std::string(
                                "\x06\x00"
                                "BC\x02\x00",
                                6) +
                            raw_bytes(bytes);
  return gzip_header(4) + extra + deflate + little_u32(crc32_of(data)) +
         little_u32(static_cast<uint32_t>(data.size()));
}

std::map<std::string, std::string> gzips(const std::string& data) {
  const std::string first = data.substr(0, data.size() / 3), rest = data.substr(data.size() / 3),
                    zeros(512, '\0');
  const std::string several = gzip_stored(first) + gzip_stored("") + gzip_stored(rest);
  const std::string bgzip = bgzip_member(first) + bgzip_member(rest) + bgzip_member("");
  return {
      {"one member", gzip_stored(data)},
      {"two members, the second larger", gzip_stored(first) + gzip_stored(rest)},
      {"two members, the second smaller", gzip_stored(rest.empty() ? data : data.substr(0, data.size() - 1)) +
                                              gzip_stored(data.substr(data.size() - 1))},
      {"an empty member between and after", several + gzip_stored("")},
      {"a zero after it", gzip_stored(data) + std::string(1, '\0')},
      {"zeros after it", gzip_stored(data) + zeros},
      {"several and zeros", several + zeros},
      {"zeros after each",
       gzip_stored(first) + zeros + gzip_stored("") + std::string(1, '\0') + gzip_stored(rest) + zeros},
      {"bgzip", bgzip},
      {"bgzip and zeros", bgzip + zeros},
      {"bgzip and zeros between", bgzip_member(first) + zeros + bgzip_member(rest)},
      {"bgzip and another member", bgzip_member(first) + gzip_stored(rest)},
      {"another member and bgzip", gzip_stored(first) + bgzip_member(rest) + bgzip_member("")}};
}

std::map<std::string, std::string> zstds(const std::string& data) {
  const auto skippable = [](uint32_t kind, std::string_view text) {
    return frame_number(0x184d2a50u + kind, 4) + frame_number(text.size(), 4) + std::string(text);
  };
  const std::string first = data.substr(0, 5), rest = data.substr(5);
  return {{"a skippable frame first", skippable(0, "head") + zstd_stored(data)},
          {"an empty one first", skippable(15, "") + zstd_stored(data)},
          {"several first", skippable(1, "a") + skippable(2, std::string(3000, 'b')) + zstd_stored(data)},
          {"before each, as pzstd writes",
           skippable(0, "1234") + zstd_stored(first) + skippable(0, "5678") + zstd_stored(rest)},
          {"last, as a seek table", zstd_stored(first) + zstd_stored(rest) + skippable(14, "a table")}};
}

class CompressedFormats : public testing::Test {
 protected:
  Result<SourceRef> try_open(const std::string& uri) { return open_source(uri, test_context()); }
  // All rows of all fields, or the error.
  std::string rows(const std::string& uri) {
    const Result<SourceRef> source = try_open(uri);
    if (!source.is_ok()) return source.status().message();
    std::string out = std::to_string(source.value()->count());
    for (const std::vector<std::string>& field : fetch_all(*source.value()).bytes) {
      for (const std::string& row : field) out += "|" + row;
    }
    return out;
  }

  TempDir dir_;
};

std::string many(const std::string& head, const std::string& line) {
  std::string out = head;
  for (int i = 0; i < 300; ++i) out += line;
  return out;
}

TEST_F(CompressedFormats, AGzipOfAnyMembersIsItsDataInEachFormat) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  const std::map<std::string, std::string> files = {
      {"a.csv", many("a,t\n", "1,text\n")},
      {"a.jsonl", many("", "{\"a\": 1, \"t\": \"text\"}\n")},
      {"a.tfrecord", many("", example_record({{"a", int_feature({7})}}))},
      {"a-idx1-ubyte", big_u32(0x801) + big_u32(300) + std::string(300, 'x')}};
  for (const auto& [name, data] : files) {
    const std::string plain = rows(dir_.write(name, data));
    EXPECT_THAT(plain, testing::StartsWith("300|"));
    for (const auto& [what, bytes] : gzips(data))
      EXPECT_EQ(rows(dir_.write(name + ".gz", bytes)), plain) << name << ": " << what;
  }
}

TEST_F(CompressedFormats, AGzipOfAnyMembersIsItsDataInSetsToo) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  write_cifar10(dir_);
  const std::string plain = rows("cifar10:" + dir_.path("c"));
  std::string batch = cifar10_record(1, 10) + cifar10_record(2, 20);
  dir_.write("c/data_batch_1.bin", batch);
  const std::string expected = rows("cifar10:" + dir_.path("c"));
  std::filesystem::remove(dir_.path("c/data_batch_1.bin"));
  const MdsFile shard = mds_file({"one", "two"});
  for (const auto& [what, bytes] : gzips(batch)) {
    dir_.write("c/data_batch_1.bin.gz", bytes);
    EXPECT_EQ(rows("cifar10:" + dir_.path("c")), expected) << what;
  }
  for (const auto& [what, bytes] : gzips(shard.bytes())) {
    dir_.write("set/s.mds.gz", bytes);
    dir_.write("set/index.json",
               mds_index({mds_compressed_entry(shard, "s.mds", "gz", "s.mds.gz", bytes.size())}));
    EXPECT_THAT(rows("mds:" + dir_.path("set")), testing::EndsWith("|one|two")) << what;
  }
}

TEST_F(CompressedFormats, ASkippableFrameAnywhereIsNoData) {
  const std::map<std::string, std::string> files = {{"a.csv", many("a,t\n", "1,text\n")},
                                                    {"a.jsonl", many("", "{\"a\": 1, \"t\": \"text\"}\n")}};
  if (!try_open(dir_.write("x.csv.zst", zstd_stored("a\n1\n"))).is_ok())
    GTEST_SKIP() << "this build has no Zstandard";
  for (const auto& [name, data] : files) {
    const std::string plain = rows(dir_.write(name, data));
    for (const auto& [what, bytes] : zstds(data)) {
      EXPECT_EQ(rows(dir_.write(name + ".zst", bytes)), plain) << name << ": " << what;
      expect_error(try_open(dir_.write("cut-" + name + ".zst", bytes.substr(0, 7))), Code::kTruncated,
                   {"Zstandard data is truncated"});
    }
  }
  const MdsFile shard = mds_file({"one", "two"});
  for (const auto& [what, bytes] : zstds(shard.bytes())) {
    dir_.write("set/s.mds.zstd", bytes);
    dir_.write("set/index.json",
               mds_index({mds_compressed_entry(shard, "s.mds", "zstd:3", "s.mds.zstd", bytes.size())}));
    EXPECT_THAT(rows("mds:" + dir_.path("set")), testing::EndsWith("|one|two")) << what;
  }
}

// The bytes of a skippable frame may be the start of other data.
TEST_F(CompressedFormats, AFileThatBeginsLikeASkippableFrameMayBeAnother) {
  const std::string odd = "P*M\x18 is text";
  const OpenContext context = test_context();
  const Result<MappedFile> file = open_maybe_compressed(dir_.write("a.txt", odd), nullptr, context);
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  EXPECT_FALSE(file.value().inflated());
  EXPECT_EQ(file.value().bytes(), std::ssize(odd));
}

TEST_F(CompressedFormats, MembersKeepNoMoreMemoryThanTheirData) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  const std::string data(300'000, 'x');
  for (const auto& [what, bytes] : gzips(data)) {
    OpenContext context = test_context();
    context.memory = HostMemory::create({}, 4 << 20);
    const Result<MappedFile> file = open_maybe_compressed(dir_.write("a.gz", bytes), nullptr, context);
    ASSERT_TRUE(file.is_ok()) << what << ": " << file.status().message();
    EXPECT_EQ(file.value().bytes(), 300'000) << what;
    EXPECT_EQ(context.memory->in_use_bytes(), 300'000) << what;
  }
}

}  // namespace
}  // namespace dataline::compressed_formats_test
