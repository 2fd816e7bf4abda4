// Records from C++: classes and callables, exceptions, ragged fields, destruction.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::reader_test {
namespace {

// Record i: the u64 i, and i letters; counts its destruction.
class Letters : public Reader {
 public:
  Letters(int64_t count, std::atomic<int>* destroyed) : count_(count), destroyed_(destroyed) {}
  ~Letters() override { ++*destroyed_; }
  Letters(const Letters&) = delete;
  Letters& operator=(const Letters&) = delete;
  std::vector<Field> fields() const override {
    return {Field::dense<uint64_t>("data"), Field::ragged<uint8_t>("text")};
  }
  int64_t count() const override { return count_; }
  std::string fingerprint() const override { return "letters"; }
  void read(int64_t index, Record& record) override {
    record.put(0, static_cast<uint64_t>(index));
    record.put(1, std::string(static_cast<size_t>(index), static_cast<char>('a' + index % 26)));
  }

 private:
  int64_t count_;
  std::atomic<int>* destroyed_;
};

TEST(CppReader, AClassGivesDenseAndRaggedRecordsToAnyWorkers) {
  for (int workers : {0, 1, 3}) {
    std::atomic<int> destroyed{0};
    {
      Dataset dataset = Dataset::from_reader(std::make_unique<Letters>(100, &destroyed));
      EXPECT_EQ(dataset.size(), 100);
      Loader loader(dataset, {{"batch_size", 7}, {"num_workers", workers}, {"epochs", 1}});
      dataset = Dataset();
      int64_t at = 0;
      for (const Batch& batch : loader) {
        const Rows<uint8_t> texts = batch["text"].rows<uint8_t>();
        for (int64_t i = 0; i < texts.size(); ++i, ++at) {
          EXPECT_EQ(batch["data"].as<uint64_t>()[static_cast<size_t>(i)], static_cast<uint64_t>(at));
          EXPECT_EQ(std::string(texts[i].begin(), texts[i].end()),
                    std::string(static_cast<size_t>(at), static_cast<char>('a' + at % 26)));
        }
      }
      EXPECT_EQ(at, 100);
      EXPECT_EQ(destroyed, 0) << "the loader reads";
    }
    EXPECT_EQ(destroyed, 1);
  }
}

TEST(CppReader, IsDestroyedOnceWhenTheDatasetCannotBeMade) {
  std::atomic<int> destroyed{0};
  EXPECT_EQ(Dataset::try_from_reader(std::make_unique<Letters>(-1, &destroyed)).status(),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(Dataset::try_from_reader(std::unique_ptr<Reader>()).status(), DL_ERR_INVALID_ARGUMENT);
}

// A field of u64 from a callable.
template <typename Call>
Dataset reading(int64_t count, Call call) {
  return Dataset::from_reader({Field::dense<uint64_t>("data")}, count, std::move(call));
}

TEST(CppReader, AnExceptionMakesItsRecordBadAndNoOther) {
  for (int workers : {0, 2}) {
    const Dataset dataset = reading(6, [](int64_t index, Record& record) {
      if (index == 2) throw std::runtime_error("no record in the cupboard");
      if (index == 4) throw 4;  // NOLINT(hicpp-exception-baseclass): anything can be thrown
      record.put(0, static_cast<uint64_t>(index));
    });
    Loader loader(dataset, {{"batch_size", 6}, {"num_workers", workers}, {"epochs", 1}});
    const Result<Batch> bad = loader.try_next();
    EXPECT_EQ(bad.status(), DL_ERR_BAD_SAMPLE);
    EXPECT_EQ(bad.error().sample_index(), 2);
    EXPECT_TRUE(says(bad.error(), {"sample 2", "no record in the cupboard"}));
    EXPECT_EQ(values_of(loader.next().value()), (std::vector<uint64_t>{0, 1, 3, 5}))
        << "the good ones follow";
    EXPECT_EQ(loader.stats().bad, 2);
  }
}

TEST(CppReader, EachBadRecordHasItsOwnText) {
  const Dataset dataset = reading(6, [](int64_t index, Record& record) {
    if (index % 2 == 1) throw std::runtime_error("page " + std::to_string(index) + " is torn");
    record.put(0, static_cast<uint64_t>(index));
  });
  Loader loader(dataset, {{"batch_size", 6}, {"num_workers", 0}, {"epochs", 1}});
  EXPECT_EQ(loader.try_next().status(), DL_ERR_BAD_SAMPLE);
  const std::vector<dl_bad_sample> bad = loader.bad_samples();
  ASSERT_EQ(bad.size(), 3u);
  for (const dl_bad_sample& sample : bad) {
    const std::string ending = ": page " + std::to_string(sample.index) + " is torn", text = sample.message;
    EXPECT_EQ(text.substr(text.size() - ending.size()), ending);
  }
}

TEST(CppReader, BorrowedRowsAreConvertedInPlaceAndTheirOwnersGoOnce) {
  static std::atomic<int> alive{0};
  struct Counted {
    Counted() { ++alive; }
    ~Counted() {
      --alive;
      std::fill(letters.begin(), letters.end(), '?');
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    std::string letters;
  };
  static const std::vector<float> kTable = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (int workers : {0, 2}) {
    std::atomic<int> copied{0};
    const Dataset dataset = Dataset::from_reader(
        {Field::dense<float>("x", {2}), Field::ragged<uint8_t>("text"), Field::ragged<int32_t>("n")}, 6,
        [&copied](int64_t index, Record& record) {
          record.borrow(0, kTable.data() + 2 * index, 2);
          copied += static_cast<const float*>(record.cell(0).borrowed) == kTable.data() + 2 * index ? 0 : 1;
          const auto text = std::make_shared<Counted>();
          text->letters = std::string(static_cast<size_t>(index), 'k');
          record.borrow(1, reinterpret_cast<const uint8_t*>(text->letters.data()), text->letters.size(),
                        text);
          record.borrow(2, std::make_shared<const std::vector<int32_t>>(3, static_cast<int32_t>(index)));
        });
    {
      Loader loader(dataset, {{"batch_size", 3}, {"num_workers", workers}, {"epochs", 2}});
      int64_t at = 0;
      for (const Batch& batch : loader) {
        for (size_t i = 0; i < 3; ++i, ++at) {
          const int64_t index = at % 6;
          const auto row = static_cast<int64_t>(i);
          EXPECT_EQ(batch["x"].rows<float>()[row][1], static_cast<float>(2 * index + 1));
          const Span<const uint8_t> text = batch["text"].rows<uint8_t>()[row];
          EXPECT_EQ(std::string(text.begin(), text.end()), std::string(static_cast<size_t>(index), 'k'));
          EXPECT_EQ(batch["n"].rows<int32_t>()[row][2], index);
        }
        if (at == 9) break;
      }
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(copied, 0);
  }
}

TEST(CppReader, ARecordKnowsItsPlaceInTheEpoch) {
  const Dataset dataset = reading(10, [](int64_t, Record& record) {
    record.put(0, static_cast<uint64_t>(record.epoch() * 1000 + record.slot()) + record.seed() * 100'000);
  });
  Loader loader(dataset, {{"batch_size", 10}, {"shuffle", "full"}, {"seed", 3}, {"epochs", 2}});
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    const std::vector<uint64_t> values = loop(loader);
    ASSERT_EQ(values.size(), 10u);
    for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(values[i], 300'000 + epoch * 1000 + i);
  }
}

TEST(CppReader, ASlowRecordSeesThatItsLoaderIsDestroyed) {
  std::atomic<int> inside{0}, destroyed{0};
  struct Slow final : Letters {
    Slow(std::atomic<int>* in, std::atomic<int>* gone) : Letters(100, gone), inside_(in) {}
    void read(int64_t, Record& record) override {
      ++*inside_;
      while (!record.cancelled()) std::this_thread::yield();
    }
    std::atomic<int>* inside_;
  };
  {
    const Dataset dataset = Dataset::from_reader(std::make_unique<Slow>(&inside, &destroyed));
    const Loader loader(dataset, {{"num_workers", 2}});
    while (inside == 0) std::this_thread::yield();
  }
  EXPECT_EQ(destroyed, 1) << "no worker was left behind in it";
}

TEST(CppReader, ALoopThrowsTheErrorOfABadRecord) {
  const Dataset dataset = reading(4, [](int64_t index, Record& record) {
    if (index == 1) return record.fail("the host says no", 77);
    record.put(0, static_cast<uint64_t>(index));
  });
  Loader loader(dataset, {{"batch_size", 2}});
  const Error error = thrown_by([&] { loop(loader); });
  EXPECT_EQ(error.code(), DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(says(error, {"the host says no", "77"}));
}

TEST(CppReader, ReplacedRecordsAreListed) {
  const Dataset dataset = reading(8, [](int64_t index, Record& record) {
    if (index == 5) throw std::runtime_error("torn page");
    record.put(0, static_cast<uint64_t>(index));
  });
  Loader loader(dataset, {{"on_error", "quarantine"}, {"epochs", 1}});
  EXPECT_EQ(loop(loader).size(), 8u);
  const std::vector<dl_bad_sample> bad = loader.bad_samples();
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].index, 5);
  EXPECT_EQ(bad[0].code, DL_ERR_READER);
  EXPECT_NE(std::string(bad[0].message).find("torn page"), std::string::npos);
}

TEST(CppReader, AnotherDtypeOrSizeIsABadRecord) {
  const Dataset dataset = reading(3, [](int64_t index, Record& record) {
    if (index == 0) record.put(0, 1.5f);
    if (index == 1) record.put(0, std::vector<uint64_t>{1, 2});
    if (index == 2 && record.room<float>(0).empty()) return;
  });
  Loader loader(dataset, {{"batch_size", 1}, {"num_workers", 0}, {"epochs", 1}});
  EXPECT_TRUE(says(loader.try_next().error(), {"is u64, got f32"}));
  EXPECT_TRUE(says(loader.try_next().error(), {"got 16 bytes, expected 8"}));
  EXPECT_TRUE(says(loader.try_next().error(), {"is u64, got f32"}));
}

TEST(CppReader, FieldsAreWrittenInPlace) {
  const Dataset dataset =
      Dataset::from_reader({Field::dense<float>("x", {2, 3}, "HW")}, 2, [](int64_t index, Record& record) {
        const Span<float> row = record.room<float>(0);
        for (size_t i = 0; i < row.size(); ++i)
          row[i] = static_cast<float>(index * 10) + static_cast<float>(i);
      });
  Loader loader(dataset);
  const Batch batch = loader.next().value();
  EXPECT_STREQ(batch["x"].axes(), "NHW");
  EXPECT_EQ(batch["x"].rows<float>()[1][5], 15.0f);
}

TEST(CppReader, ARaggedRecordWithoutRoomIsTooLarge) {
  const Dataset dataset = Dataset::from_reader(
      {Field::ragged<uint8_t>("text")}, 2,
      [](int64_t index, Record& record) { record.put(0, std::string(index == 0 ? 4 : 40, 'x')); });
  Loader loader(dataset, {{"max_bytes_per_sample", 16}});
  const Result<Batch> bad = loader.try_next();
  EXPECT_EQ(bad.status(), DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(says(bad.error(), {"sample 1", "40 bytes", "max_bytes_per_sample"}));
}

std::vector<int64_t> tens(int64_t count) {
  std::vector<int64_t> ends;
  for (int64_t end = 10; end <= count; end += 10) ends.push_back(end);
  return ends;
}

// Four hundred numbers, in blocks of ten unless a test says otherwise; notes which it was told of, and who reads.
class Blocks : public Reader {
 public:
  explicit Blocks(std::vector<int64_t> ends = tens(400)) : ends_(std::move(ends)) {}
  std::vector<Field> fields() const override { return {Field::dense<int64_t>("x")}; }
  int64_t count() const override { return 400; }
  std::vector<int64_t> block_ends() const override { return ends_; }
  int64_t held_blocks() const override { return 4; }
  bool prompt() const override { return is_prompt; }
  void advise(int64_t block) override {
    told->insert(block);
    if (block == 2) throw std::runtime_error("no block 2 ahead of its time");
  }
  void read(int64_t index, Record& record) override {
    record.put(0, index);
    if (std::this_thread::get_id() == maker_) *called_by_maker = true;
  }

  bool is_prompt = false;
  std::shared_ptr<std::set<int64_t>> told = std::make_shared<std::set<int64_t>>();
  std::shared_ptr<std::atomic<bool>> called_by_maker = std::make_shared<std::atomic<bool>>(false);

 private:
  std::vector<int64_t> ends_;
  std::thread::id maker_ = std::this_thread::get_id();
};

TEST(CppReader, AWindowHasNoMoreBlocksOpenThanTheReaderCanKeepAndTellsOfThem) {
  auto reader = std::make_unique<Blocks>();
  const auto told = reader->told;
  Loader loader(Dataset::from_reader(std::move(reader)),
                {{"shuffle", "window"}, {"batch_size", 8}, {"num_workers", 0}, {"epochs", 1}});
  std::map<int64_t, int> left;  // of the blocks that are open
  size_t samples = 0, most = 0;
  for (const Batch& batch : loader) {
    for (const int64_t x : batch["x"].as<int64_t>()) {
      const auto block = left.try_emplace(x / 10, 10).first;
      most = std::max(most, left.size());
      if (--block->second == 0) left.erase(block);
      ++samples;
    }
  }
  EXPECT_EQ(samples, 400u);
  EXPECT_LE(most, 4u);
  EXPECT_GE(told->size(), 39u) << "all but that of the first step";
}

TEST(CppReader, BlocksThatDoNotRiseToTheCountAreRefused) {
  for (const std::vector<int64_t>& ends : {std::vector<int64_t>{10, 10, 400}, {10, 20}, {401}}) {
    const Result<Dataset> refused = Dataset::try_from_reader(std::make_unique<Blocks>(ends));
    EXPECT_EQ(refused.status(), DL_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(says(refused.error(), {"block_ends"}));
  }
}

TEST(CppReader, APromptOneIsCalledByAConsumerThatWaitsToo) {
  auto reader = std::make_unique<Blocks>();
  reader->is_prompt = true;
  const auto called = reader->called_by_maker;
  Loader loader(Dataset::from_reader(std::move(reader)), {{"batch_size", 4}, {"num_workers", 1}});
  for (int i = 0; i < 1'000'000 && !*called; ++i) static_cast<void>(loader.next());  // nothing: an epoch ends
  EXPECT_TRUE(*called);
}

}  // namespace
}  // namespace dataline::cpp_tests::reader_test
