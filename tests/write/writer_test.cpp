// The life of a set: when it is there, who may write it, what a writer goes on with, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/write/sets.h"

namespace dataline::tests::writer_test {
namespace {

Columns numbers(int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i);
  return {dense("x", DL_DTYPE_I64, {}, values)};
}

// A shard after each append.
class WriterSets : public Sets {
 protected:
  std::string uri() const { return "arrow:" + path("set") + "?shard_bytes=1"; }
  std::vector<int64_t> values(const std::string& name = "set") const {
    const std::vector<Delivery> got = deliver("arrow:" + path(name));
    std::vector<int64_t> out;
    if (got.size() != 1) return out;
    out.resize(got[0].bytes.size() / 8);
    std::memcpy(out.data(), got[0].bytes.data(), out.size() * 8);
    return out;
  }
  // Appends rows [first, last), five at a time, each with its end as position.
  static void write(TestWriter& writer, int64_t first, int64_t last) {
    const Columns rows = numbers(last);
    for (int64_t at = first; at < last; at += 5) {
      const Written done = writer.append(rows, at, 5, std::to_string(at + 5).c_str());
      ASSERT_EQ(done.status, DL_OK) << done.error.message;
    }
  }
  // 20 of 40 rows are written, in four shards, and the writer is gone.
  void write_half() const {
    TestWriter writer(uri(), numbers(0), "job 1");
    write(writer, 0, 20);
  }
  void finish_and_check(TestWriter& writer, int64_t from) const {
    write(writer, from, 40);
    const Written done = writer.finish();
    ASSERT_EQ(done.status, DL_OK) << done.error.message;
    const std::vector<int64_t> got = values();
    ASSERT_EQ(got.size(), 40u);
    for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
    EXPECT_FALSE(there("set.partial"));
  }
};

TEST_F(WriterSets, ASetIsThereWhenItIsFinishedAndNotBefore) {
  TestWriter writer(uri(), numbers(0));
  write(writer, 0, 40);
  EXPECT_FALSE(there("set"));
  EXPECT_TRUE(there("set.partial"));
  EXPECT_EQ(writer.info().samples, 40);
  EXPECT_EQ(writer.info().shards, 8);
  finish_and_check(writer, 40);
  const Written late = writer.append(numbers(5), 0, 5);
  EXPECT_EQ(late.status, DL_ERR_WRONG_STATE);
  EXPECT_NE(std::string(late.error.message).find("the set is finished"), std::string::npos);
  EXPECT_EQ(writer.finish().status, DL_ERR_WRONG_STATE);
}

TEST_F(WriterSets, AWriterGoesOnBehindTheLastFinishedShard) {
  write_half();
  TestWriter writer(uri(), numbers(0), "job 1");
  ASSERT_EQ(writer.made.status, DL_OK) << writer.made.error.message;
  EXPECT_STREQ(dl_writer_position(writer.writer.get()), "20");
  EXPECT_EQ(writer.info().resumed_samples, 20);
  EXPECT_EQ(writer.info().shards, 4);
  finish_and_check(writer, 20);
}

TEST_F(WriterSets, ASetThatWasGoneOnWithIsTheSameBytes) {
  write_half();
  TestWriter second(uri(), numbers(0), "job 1");
  finish_and_check(second, 20);
  TestWriter whole("arrow:" + path("whole") + "?shard_bytes=1", numbers(0), "job 1");
  write(whole, 0, 40);
  ASSERT_EQ(whole.finish().status, DL_OK);
  for (const auto& entry : std::filesystem::directory_iterator(path("whole")))
    EXPECT_EQ(read_whole(entry.path().string()), read_whole(path("set/") + entry.path().filename().string()))
        << entry.path();
}

TEST_F(WriterSets, RowsOfAnOpenShardAreWrittenAgain) {
  {
    TestWriter writer("arrow:" + path("set") + "?shard_bytes=1MiB", numbers(0), "job 1");
    write(writer, 0, 20);
  }
  TestWriter writer("arrow:" + path("set") + "?shard_bytes=1MiB", numbers(0), "job 1");
  EXPECT_STREQ(dl_writer_position(writer.writer.get()), "");
  EXPECT_EQ(writer.info().samples, 0);
  finish_and_check(writer, 0);
}

TEST_F(WriterSets, ShardsThatAreNotWhatTheManifestSaysAreWrittenAgain) {
  struct Damage {
    const char* what;
    void (*make)(const std::string& shard);
  };
  const Damage damages[] = {
      {"gone", [](const std::string& shard) { std::filesystem::remove(shard); }},
      {"cut", [](const std::string& shard) { std::filesystem::resize_file(shard, 100); }},
      {"longer", [](const std::string& shard) { write_file(shard, read_whole(shard) + "x"); }},
      {"a bit", [](const std::string& shard) {
         std::string bytes = read_whole(shard);
         bytes[bytes.size() / 2] ^= 1;
         write_file(shard, bytes);
       }}};
  for (const Damage& damage : damages) {
    write_half();
    damage.make(path("set.partial/part-00002.arrow"));
    TestWriter writer(uri(), numbers(0), "job 1");
    EXPECT_EQ(writer.info().samples, 10) << damage.what;
    EXPECT_STREQ(dl_writer_position(writer.writer.get()), "10") << damage.what;
    EXPECT_FALSE(there("set.partial/part-00003.arrow")) << damage.what;
    finish_and_check(writer, 10);
    std::filesystem::remove_all(path("set"));
  }
}

TEST_F(WriterSets, AManifestThatEndsAnywhereIsGoneOnWith) {
  write_half();
  const std::string manifest = read_whole(path("set.partial/dataline.manifest"));
  std::filesystem::rename(path("set.partial"), path("half"));
  for (size_t bytes = 0; bytes <= manifest.size(); bytes += 7) {
    std::filesystem::remove_all(path("set.partial"));
    std::filesystem::copy(path("half"), path("set.partial"));
    write_file(path("set.partial/dataline.manifest"), manifest.substr(0, bytes));
    const auto lines = std::count(manifest.begin(), manifest.begin() + static_cast<int64_t>(bytes), '\n');
    if (lines == 0) {  // the first line is durable before any shard is
      const TestWriter refused(uri(), numbers(0), "job 1");
      EXPECT_EQ(refused.made.status, DL_ERR_WRONG_STATE) << bytes;
    }
    // A shard's line is durable before the next shard is begun: of later ones there is none.
    for (int64_t shard = lines; shard < 4; ++shard)
      EXPECT_TRUE(std::filesystem::remove(path("set.partial/part-0000" + std::to_string(shard) + ".arrow")));
    TestWriter writer(uri(), numbers(0), "job 1");
    ASSERT_EQ(writer.made.status, DL_OK) << bytes << ": " << writer.made.error.message;
    EXPECT_EQ(writer.info().shards, std::max<int64_t>(lines - 1, 0)) << bytes;
    EXPECT_EQ(read_whole(path("set.partial/dataline.manifest")).back(), '\n') << bytes;
  }
}

TEST_F(WriterSets, WhatAKilledWriterLeftOfShardsIsRemovedAndOtherFilesStay) {
  write_half();
  for (const char* name : {"part-00004.arrow", "part-00004.arrow.new0", "notes.txt"})
    write_file(path("set.partial/") + name, "left over");
  TestWriter writer(uri(), numbers(0), "job 1");
  EXPECT_FALSE(there("set.partial/part-00004.arrow") || there("set.partial/part-00004.arrow.new0"));
  EXPECT_TRUE(there("set.partial/notes.txt"));
}

TEST_F(WriterSets, ShardsThatNoKilledWriterCanHaveLeftAreRefusedAndStay) {
  for (const char* name : {"part-00007.arrow", "part-x.arrow", "mine.arrow"}) {
    write_half();
    write_file(path("set.partial/") + name, "somebody's own");
    const TestWriter refused(uri(), numbers(0), "job 1");
    EXPECT_EQ(refused.made.status, DL_ERR_WRONG_STATE) << name;
    EXPECT_NE(std::string(refused.made.error.message).find(name), std::string::npos)
        << refused.made.error.message;
    EXPECT_EQ(read_whole(path("set.partial/") + name), "somebody's own");
    std::filesystem::remove_all(path("set.partial"));
  }
}

TEST_F(WriterSets, AnotherJobDoesNotGoOnWithFinishedShards) {
  write_half();
  const auto refused = [&](const std::string& where, const Columns& columns, const char* job) {
    TestWriter writer(where, columns, job);
    EXPECT_EQ(writer.made.status, DL_ERR_STATE_REFUSED);
    return std::string(writer.made.error.message);
  };
  EXPECT_NE(refused(uri(), numbers(0), "job 2").find("it was started with 'job 1', now it is 'job 2'"),
            std::string::npos);
  EXPECT_NE(refused("tfrecord:" + path("set"), numbers(0), "job 1").find("its format is arrow, not tfrecord"),
            std::string::npos);
  EXPECT_NE(refused("arrow:" + path("set"), numbers(0), "job 1").find("its shard_bytes is 1, not 268435456"),
            std::string::npos);
  EXPECT_NE(refused(uri() + "&codec=none", numbers(0), "job 2").find("it was started with"),
            std::string::npos);
  EXPECT_NE(refused(uri() + "&codec=lz4", numbers(0), "job 1").find("its codec is 'none', not 'lz4'"),
            std::string::npos);
  EXPECT_NE(
      refused(uri(), {dense("y", DL_DTYPE_I64, {}, std::vector<int64_t>{})}, "job 1").find("its fields are"),
      std::string::npos);
  TestWriter writer(uri(), numbers(0), "job 1");
  finish_and_check(writer, 20);
}

TEST_F(WriterSets, WithoutAFinishedShardAnotherJobBegins) {
  { TestWriter writer(uri(), numbers(0), "job 1"); }
  TestWriter writer("tfrecord:" + path("set"), numbers(0), "job 2");
  EXPECT_EQ(writer.made.status, DL_OK) << writer.made.error.message;
}

TEST_F(WriterSets, TwoWritersOfOneSetAreRefused) {
  TestWriter first(uri(), numbers(0));
  const TestWriter second(uri(), numbers(0));
  EXPECT_EQ(second.made.status, DL_ERR_WRONG_STATE);
  EXPECT_NE(std::string(second.made.error.message).find("another process is writing this set"),
            std::string::npos)
      << second.made.error.message;
  finish_and_check(first, 0);
}

TEST_F(WriterSets, WhatIsThereIsNeverWrittenOver) {
  const auto refused = [&] {
    const TestWriter writer(uri(), numbers(0));
    EXPECT_EQ(writer.made.status, DL_ERR_WRONG_STATE);
    EXPECT_NE(std::string(writer.made.error.message).find("set: exists"), std::string::npos)
        << writer.made.error.message;
  };
  write_file(path("set"), "a file");
  refused();
  EXPECT_EQ(read_whole(path("set")), "a file");
  std::filesystem::remove(path("set"));
  std::filesystem::create_directory(path("set"));
  refused();
  std::filesystem::remove(path("set"));
  std::filesystem::create_symlink("nowhere", path("set"));
  refused();
  std::filesystem::remove(path("set"));
  // Made while the set was written.
  TestWriter writer(uri(), numbers(0), "job 1");
  write(writer, 0, 20);
  std::filesystem::create_directory(path("set"));
  EXPECT_EQ(writer.finish().status, DL_ERR_WRONG_STATE);
  EXPECT_TRUE(std::filesystem::is_empty(path("set")));
  writer.writer.reset();
  std::filesystem::remove(path("set"));
  TestWriter again(uri(), numbers(0), "job 1");
  EXPECT_EQ(again.info().samples, 20);
  finish_and_check(again, 20);
}

TEST_F(WriterSets, AppendsOfSeveralThreadsAreEachOnePiece) {
  TestWriter writer("arrow:" + path("set") + "?shard_bytes=4KiB", numbers(0));
  const Columns rows = numbers(4000);
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t at = t * 1000; at < (t + 1) * 1000; at += 10)
        EXPECT_EQ(writer.append(rows, at, 10).status, DL_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(writer.finish().status, DL_OK);
  const std::vector<int64_t> got = values();
  ASSERT_EQ(got.size(), 4000u);
  std::vector<int64_t> next = {0, 1000, 2000, 3000};  // of each thread, in its order
  for (size_t i = 0; i < got.size(); i += 10) {
    int64_t& expected = next[static_cast<size_t>(got[i] / 1000)];
    for (size_t k = 0; k < 10; ++k) EXPECT_EQ(got[i + k], expected++);
  }
}

TEST_F(WriterSets, RowsThatDoNotFitTheFieldsAreRefused) {
  const Columns columns = {dense("x", DL_DTYPE_I64, {2}, std::vector<int64_t>{1, 2, 3, 4}),
                           texts("text", {"a", "b"})};
  TestWriter writer("arrow:" + path("set"), columns);
  const auto refused = [&](const Columns& given, dl_status status) {
    const Written done = writer.append(given, 0, 2);
    EXPECT_EQ(done.status, status) << done.error.message;
    return std::string(done.error.message);
  };
  EXPECT_EQ(refused({columns[0]}, DL_ERR_MISMATCH), "arrays: expected 2, one per field of the writer, got 1");
  EXPECT_NE(refused({columns[1], columns[0]}, DL_ERR_MISMATCH)
                .find("array 0: expected field 'x' (i64[2]), got 'text' (u8[-1])"),
            std::string::npos);
  EXPECT_NE(refused({dense("x", DL_DTYPE_I64, {}, std::vector<int64_t>{1, 2}), columns[1]}, DL_ERR_MISMATCH)
                .find("got 'x' (i64)"),
            std::string::npos);
  Columns broken = columns;
  broken[1].offsets[1] = 9;
  EXPECT_NE(refused(broken, DL_ERR_OUT_OF_RANGE).find("offsets[1] is 9"), std::string::npos);
  EXPECT_EQ(writer.append(columns, 0, 0).status, DL_OK);
  EXPECT_EQ(writer.finish().status, DL_ERR_EMPTY);
  EXPECT_EQ(writer.append(columns, 0, 2).status, DL_OK);
  EXPECT_EQ(writer.finish().status, DL_OK);
}

TEST_F(WriterSets, TargetsThatAreNoneAreRefusedByColumn) {
  struct Case {
    const char* uri;
    dl_status status;
    const char* message;
  };
  for (const Case& wrong :
       {Case{"out", DL_ERR_BAD_URI, "a format is needed before the path"},
        Case{"out", DL_ERR_BAD_URI, "tokens: write arrow:out, a directory of shards"},
        Case{"d/x.tfrecord", DL_ERR_BAD_URI, "tokens: write tfrecord:d/x, a directory of shards"},
        Case{"x.TFRecords", DL_ERR_BAD_URI, "write tfrecord:x,"},
        Case{"x.parquet", DL_ERR_BAD_URI, "write parquet:x,"},
        Case{"x.tar", DL_ERR_BAD_URI, "write tar:x,"},
        Case{"x.npy", DL_ERR_BAD_URI, "write npy:x,"},
        Case{"x.bin", DL_ERR_BAD_URI, "write tokens:x,"},
        Case{"x.feather", DL_ERR_BAD_URI, "write arrow:x,"},
        Case{"d/.tar", DL_ERR_BAD_URI, "write tar:d/.tar,"},
        Case{"csv:x.tar", DL_ERR_BAD_URI,
             "'csv' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens: write "
             "tar:x,"},
        Case{"tfrecords:x", DL_ERR_BAD_URI, "write tfrecord:x,"},
        Case{"idx:out", DL_ERR_BAD_URI,
             "'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens"},
        Case{"arrow:a,b", DL_ERR_BAD_URI, "expected exactly one path"},
        Case{"arrow:x=a", DL_ERR_BAD_URI, "expected exactly one path"},
        Case{"arrow:out?shard_bytes=0", DL_ERR_BAD_URI, "expected a size from 1"},
        Case{"arrow:out?shard_bytes=many", DL_ERR_BAD_URI, "got 'many'"},
        Case{"arrow:out?level=3", DL_ERR_BAD_URI,
             "unknown key 'level'; a set of arrow accepts shard_bytes, codec"},
        Case{"tar:out?codec=zstd", DL_ERR_BAD_URI, "unknown key 'codec'; a set of tar accepts shard_bytes"},
        Case{"parquet:out?codec=gzip", DL_ERR_BAD_URI, "codec: expected none, lz4 or zstd, got 'gzip'"},
        Case{"arrow:no/such/folder/out", DL_ERR_NOT_FOUND, "no/such/folder/out.partial"}}) {
    const TestWriter writer(wrong.uri, numbers(0));
    EXPECT_EQ(writer.made.status, wrong.status) << wrong.uri << ": " << writer.made.error.message;
    EXPECT_NE(std::string(writer.made.error.message).find(wrong.message), std::string::npos)
        << wrong.uri << ": " << writer.made.error.message;
  }
  const TestWriter none("arrow:" + path("set"), {});
  EXPECT_EQ(none.made.status, DL_ERR_INVALID_ARGUMENT);
}

TEST_F(WriterSets, AManifestThatIsNoneIsRefusedByLine) {
  write_half();
  const std::string name = path("set.partial/dataline.manifest"), good = read_whole(name);
  const std::string head = good.substr(0, good.find('\n') + 1);
  for (const char* line :
       {"{\"shard\": 7}\n", "{\"shard\": \"a\", \"samples\": -1}\n",
        "{\"shard\": \"a\", \"crc32c\": \"xyz\"}\n", "{\"shard\": \"a\"} x\n", "nonsense\n",
        "{\"shard\": \"../x\", \"samples\": 1, \"bytes\": 0, \"crc32c\": \"00000000\", \"position\": "
        "\"\"}\n"}) {
    write_file(name, head + line);
    const TestWriter writer(uri(), numbers(0), "job 1");
    EXPECT_EQ(writer.made.status, DL_ERR_CORRUPT) << line;
    EXPECT_NE(std::string(writer.made.error.message).find("dataline.manifest: line 2: "), std::string::npos)
        << writer.made.error.message;
  }
}

// In C, as every language has it.
TEST_F(WriterSets, ChecksumsOfFilesAreComparedWhenTheOptionSaysSo) {
  TestWriter writer(uri(), numbers(0));
  finish_and_check(writer, 0);
  const std::string shard = path("set/part-00002.arrow");
  std::string bytes = read_whole(shard);
  bytes[bytes.size() / 2] ^= 1;
  write_file(shard, bytes);
  const auto open = [&](const char* checksums, const char* bad_files, std::vector<std::string>& notes) {
    dl_error error = DL_ERROR_INIT;
    dl_options* options = nullptr;
    EXPECT_EQ(dl_options_create(&options, &error), DL_OK);
    EXPECT_EQ(dl_options_set(options, "checksums", checksums, &error), DL_OK) << error.message;
    EXPECT_EQ(dl_options_set(options, "bad_files", bad_files, &error), DL_OK) << error.message;
    dl_dataset* dataset = nullptr;
    const dl_status status = dl_dataset_open(("arrow:" + path("set")).c_str(), options, &dataset, &error);
    notes.clear();
    if (status != DL_OK) notes.emplace_back(error.message);
    for (int32_t i = 0; i < dl_dataset_note_count(dataset); ++i)
      notes.emplace_back(dl_dataset_note(dataset, i));
    const int64_t count = status == DL_OK ? dl_dataset_count(dataset) : -status;
    dl_dataset_destroy(dataset);
    dl_options_destroy(options);
    return count;
  };
  std::vector<std::string> notes;
  EXPECT_EQ(open("records", "error", notes), 40);
  EXPECT_EQ(open("files", "error", notes), -DL_ERR_CORRUPT);
  EXPECT_NE(notes.at(0).find("part-00002.arrow: its CRC-32C is "), std::string::npos) << notes.at(0);
  EXPECT_EQ(open("files", "skip", notes), 35);
  EXPECT_TRUE(notes.at(0).starts_with("left out: ")) << notes.at(0);
  EXPECT_EQ(open("files", "keep", notes), 40);
  EXPECT_TRUE(notes.at(0).starts_with("damaged: ")) << notes.at(0);
}

TEST(Writers, TheFormatsAreListed) {
  ASSERT_EQ(dl_writer_format_count(), 6);
  EXPECT_STREQ(dl_writer_format_name(0), "arrow");
  EXPECT_STREQ(dl_writer_format_name(1), "parquet");
  EXPECT_STREQ(dl_writer_format_name(3), "tfrecord");
  EXPECT_NE(dl_writer_format_doc(1), nullptr);
  EXPECT_STREQ(dl_writer_format_name(5), "tokens");
  EXPECT_EQ(dl_writer_format_name(6), nullptr);
  EXPECT_EQ(dl_writer_format_doc(-1), nullptr);
}

}  // namespace
}  // namespace dataline::tests::writer_test
