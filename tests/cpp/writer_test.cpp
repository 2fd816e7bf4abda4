// Sets that are written through dataline.hpp: read back, gone on with, refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <thread>
#include <type_traits>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::writer_test {
namespace {

static_assert(!std::is_copy_constructible_v<Writer> && std::is_nothrow_move_constructible_v<Writer>);

class CppWriter : public ::testing::Test {
 protected:
  std::string uri(const std::string& format = "arrow", const std::string& keys = "") const {
    return format + ":" + dir_.path("set") + keys;
  }
  bool there(const std::string& name) const { return std::filesystem::exists(dir_.path(name)); }
  std::vector<uint64_t> delivered() const {
    Loader loader(Dataset(uri()), {{"batch_size", 3}, {"num_workers", 0}, {"epochs", 1}});
    return loop(loader);
  }

  TempDir dir_;
};

const std::vector<Field> kNumbers = {Field::dense<uint64_t>("data")};

TEST_F(CppWriter, DenseRaggedAndTextsComeBack) {
  Writer writer(uri(), {Field::dense<uint8_t>("image", {2, 2}, "HW"), Field::dense<float>("score"),
                        Field::ragged<int32_t>("tokens"), Field::ragged<uint8_t>("text")});
  const std::vector<uint8_t> images = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<float> scores = {0.5f, 1.5f, -2};
  const std::vector<int32_t> tokens = {7, 8, 9};
  const std::vector<int64_t> token_rows = {0, 2, 2, 3}, letter_rows = {0, 0, 3, 7};
  const std::string letters = "onefour";
  const std::vector<uint8_t> bytes(letters.begin(), letters.end());
  writer.append({Array("image", images, {3, 2, 2}), Array("score", scores),
                 Array::ragged("tokens", tokens, token_rows), Array::ragged("text", bytes, letter_rows)});
  EXPECT_EQ(writer.info().samples, 3);
  EXPECT_FALSE(there("set"));
  writer.finish();
  EXPECT_TRUE(there("set") && !there("set.partial"));
  EXPECT_EQ(writer.info().shards, 1);

  const Dataset set(uri());
  EXPECT_STREQ(set.fields()["image"].axes(), "HW");
  Loader loader(set, {{"batch_size", 3}});
  const Batch batch = std::move(loader.next().value());
  const Span<const uint8_t> image = batch["image"].as<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(image.begin(), image.end()), images);
  const Span<const float> score = batch["score"].as<float>();
  EXPECT_EQ(std::vector<float>(score.begin(), score.end()), scores);
  const Rows<int32_t> token = batch["tokens"].rows<int32_t>();
  EXPECT_EQ(token[0].size(), 2u);
  EXPECT_EQ(token[0][1], 8);
  EXPECT_TRUE(token[1].empty());
  EXPECT_EQ(token[2][0], 9);
  const Rows<uint8_t> text = batch["text"].rows<uint8_t>();
  std::vector<std::string> texts;
  for (int64_t i = 0; i < 3; ++i) texts.emplace_back(text[i].begin(), text[i].end());
  EXPECT_EQ(texts, (std::vector<std::string>{"", "one", "four"}));
}

TEST_F(CppWriter, FieldsOfADatasetAndItsBatchesAreWritten) {
  const Dataset dataset = counting(20);
  Writer writer(uri(), dataset.fields());
  Loader loader(dataset, {{"batch_size", 6}, {"shuffle", "full"}, {"seed", 3}, {"epochs", 1}});
  std::vector<uint64_t> order;
  for (const Batch& batch : loader) {
    const std::vector<uint64_t> values = values_of(batch);
    writer.append({Array("data", batch["data"].as<uint64_t>())});
    order.insert(order.end(), values.begin(), values.end());
  }
  writer.finish();
  EXPECT_EQ(order.size(), 20u);
  EXPECT_EQ(delivered(), order);
}

TEST_F(CppWriter, AWriterGoesOnWhereOneWithoutFinishEnded) {
  const std::string small = uri("arrow", "?shard_bytes=1");
  {
    Writer writer(small, kNumbers, "numbers");
    EXPECT_STREQ(writer.position(), "");
    writer.append({Array("data", count_to(3))}, "3");
  }
  EXPECT_TRUE(there("set.partial") && !there("set"));
  EXPECT_TRUE(says(thrown_by([&] { Writer(small, kNumbers, "others"); }), {"'numbers', now it is 'others'"}));
  EXPECT_EQ(Writer::try_create(small, kNumbers, "others").status(), DL_ERR_STATE_REFUSED);
  Writer writer(small, kNumbers, "numbers");
  EXPECT_STREQ(writer.position(), "3");
  EXPECT_EQ(writer.info().resumed_samples, 3);
  EXPECT_EQ(writer.info().samples, 3);
  EXPECT_GT(writer.info().bytes, 0);
  writer.append({Array("data", std::vector<uint64_t>{3, 4})}, "5");
  Writer moved = std::move(writer);
  EXPECT_FALSE(writer);  // NOLINT(bugprone-use-after-move): on purpose
  EXPECT_EQ(writer.try_append({Array("data", count_to(1))}).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(writer.try_finish().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(writer.try_info().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(writer.position(), "");
  moved.finish();
  EXPECT_EQ(delivered(), count_to(5));
}

TEST_F(CppWriter, TargetsThatAreNoneAreRefused) {
  const Error csv = thrown_by([&] { Writer(uri("csv"), kNumbers); });
  EXPECT_EQ(csv.code(), DL_ERR_BAD_URI);
  EXPECT_EQ(csv.column(), 1);
  EXPECT_TRUE(says(csv, {"'csv' cannot be written", "arrow, parquet, tar, tfrecord, npy, tokens"}));
  EXPECT_EQ(Writer::try_create(uri("tfrecord"), {Field::dense<double>("x")}).status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(Writer::try_create(uri(), std::vector<Field>()).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(Writer::try_create(uri(), Views()).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_FALSE(there("set") || there("set.partial"));
  {
    const Writer first(uri(), kNumbers);
    EXPECT_EQ(Writer::try_create(uri(), kNumbers).status(), DL_ERR_WRONG_STATE) << "two write it";
  }
  std::filesystem::create_directory(dir_.path("set"));
  EXPECT_TRUE(says(thrown_by([&] { Writer(uri(), kNumbers); }), {"set: exists"}));
}

TEST_F(CppWriter, RowsThatDoNotFitAreRefusedAndTheWriterGoesOn) {
  Writer writer(uri(), {Field::dense<uint64_t>("data", {2})});
  const std::vector<int64_t> signed_ones(4);
  EXPECT_TRUE(says(thrown_by([&] {
                     writer.append({Array("data", signed_ones, {2, 2})});
                   }),
                   {"expected field 'data' (u64[2])", "got 'data' (i64[2])"}));
  EXPECT_EQ(writer.try_append({Array("data", count_to(4), {4})}).status(), DL_ERR_MISMATCH);
  EXPECT_EQ(writer.try_append({Array("data", count_to(4), {3, 2})}).status(), DL_ERR_MISMATCH) << "too short";
  EXPECT_EQ(writer.try_append({}).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(writer.try_finish().status(), DL_ERR_EMPTY);
  writer.append({Array("data", count_to(4), {2, 2})});
  writer.finish();
  EXPECT_EQ(writer.try_finish().status(), DL_ERR_WRONG_STATE);
  EXPECT_EQ(writer.try_append({Array("data", count_to(4), {2, 2})}).status(), DL_ERR_WRONG_STATE);
  EXPECT_EQ(delivered(), count_to(4));
}

TEST_F(CppWriter, FourThreadsAppendWholePieces) {
  Writer writer(uri("arrow", "?shard_bytes=512"), kNumbers);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&writer, thread] {
      for (uint64_t piece = 0; piece < 25; ++piece) {
        std::vector<uint64_t> rows(4);
        for (uint64_t& row : rows) row = 100 * thread + 4 * piece + static_cast<uint64_t>(&row - rows.data());
        writer.append({Array("data", rows)});
        EXPECT_GE(writer.info().samples, 4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.finish();
  EXPECT_EQ(writer.info().samples, 400);
  std::vector<uint64_t> rows = delivered();
  for (size_t at = 0; at + 4 <= rows.size(); at += 4) EXPECT_EQ(rows[at] + 3, rows[at + 3]) << "one piece";
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, count_to(400));
}

TEST_F(CppWriter, FormatsAreTheLibrarys) {
  std::string names;
  for (const WriterFormat& format : writer_format_table()) {
    names += std::string(format.name) + " ";
    EXPECT_FALSE(format.doc.empty());
  }
  EXPECT_EQ(names, "arrow parquet tar tfrecord npy tokens ");
}

}  // namespace
}  // namespace dataline::cpp_tests::writer_test
