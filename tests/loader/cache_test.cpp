// The option `cache` on sets that are no images: what is kept of rows, texts and records of readers, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "core/base/digest.h"
#include "tests/loader/measured.h"
#include "tests/loader/mixes.h"
#include "tests/support/plan_stages.h"
#include "tests/support/read_whole.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::cache_test {
namespace {

namespace fs = std::filesystem;

// One worker: several begin the second epoch before the first has ended, and make a sample twice that is not kept yet.
const Settings kCachedJob = {
    {"batch_size", "8"}, {"epochs", "2"}, {"shuffle", "full"}, {"seed", "5"}, {"num_workers", "1"}};

class Cached : public ::testing::Test {
 protected:
  ~Cached() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }
  static Dataset open(const std::string& uri) {
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_open(uri.c_str(), nullptr, &dataset, &error), DL_OK) << error.message;
    return Dataset(dataset);
  }
  Settings cached(const Settings& settings = kCachedJob) const {
    return with(settings, {{"cache", folder_ + "/cache"}});
  }
  // Every batch up to the end: what it says, field by field.
  static std::vector<std::string> stream(const Dataset& dataset, const Settings& settings) {
    const Loader loader = make_loader(dataset, settings);
    std::vector<std::string> lines;
    for (;;) {
      const Delivered got = next(loader);
      if (got.status == DL_END) return lines;
      if (got.status == DL_END_OF_EPOCH) continue;
      EXPECT_EQ(got.status, DL_OK) << got.message;
      if (got.status != DL_OK) return lines;
      Digest digest;
      int32_t count = 0;
      const dl_view* views = dl_batch_views(got.batch.get(), &count);
      for (int32_t f = 0; f < count; ++f) {
        const dl_view& view = *dl_view_at(views, f);
        digest.add(std::as_bytes(std::span(view.shape, static_cast<size_t>(view.rank))));
        digest.add(std::string_view(static_cast<const char*>(view.data) + view.byte_offset,
                                    static_cast<size_t>(view.bytes)));
        if (view.offsets != nullptr)
          digest.add(std::as_bytes(std::span(view.offsets, static_cast<size_t>(got.valid + 1))));
      }
      digest.add(std::as_bytes(std::span(got.indices)));
      lines.push_back(digest.hex());
    }
  }
  // Samples that a whole job found in the cache, and that it made.
  static std::pair<int64_t, int64_t> counts(const Dataset& dataset, const Settings& settings) {
    const Loader loader = make_loader(dataset, settings);
    for (Delivered got = next(loader); got.status != DL_END; got = next(loader)) {
      EXPECT_TRUE(got.status == DL_OK || got.status == DL_END_OF_EPOCH) << got.message;
    }
    const Metrics metrics = metrics_of(loader);
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(row_of(metrics, "cache_read").value, stats.cache_read);
    EXPECT_EQ(row_of(metrics, "cache_made").value, stats.cache_made);
    return {stats.cache_read, stats.cache_made};
  }
  void expect_the_same(const std::string& uri, const Settings& settings) const {
    SCOPED_TRACE(uri);
    const Dataset dataset = open(uri);
    const std::vector<std::string> expected = stream(dataset, settings);
    ASSERT_GT(expected.size(), 2u);
    EXPECT_EQ(stream(dataset, cached(settings)), expected) << "while it fills";
    EXPECT_EQ(stream(dataset, cached(settings)), expected) << "when it is full";
  }
  // 40 rows: a number and a text.
  std::string rows() const {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += "{\"x\": " + std::to_string(i) + ".5, \"text\": \"" + std::string(static_cast<size_t>(i), 'a') +
              "\"}\n";
    }
    return file("rows.jsonl", text);
  }

  const std::string folder_ = make_temp_folder("dataline-cached-rows");
};

TEST_F(Cached, RowsOfEveryKindAreWhatTheyAreWithout) {
  const std::string jsonl = "jsonl:" + rows();
  expect_the_same(jsonl, kCachedJob);
  expect_the_same(jsonl, with(kCachedJob, {{"transform", "x: cast(f16); text: pad_to(40)"}}));
  expect_the_same(jsonl, with(kCachedJob, {{"shuffle", "window"}, {"num_workers", "2"}}));
  std::string bytes;
  for (int i = 0; i < 4000; ++i) bytes += static_cast<char>(i * 7);
  const std::string raw = file("rows.bin", bytes);
  expect_the_same("raw:" + raw + "?dtype=u8&shape=10x10", with(kCachedJob, {{"transform", "cast(f32)"}}));
  expect_the_same("raw:" + raw + "?dtype=u8&shape=10x10&axes=HW",
                  with(kCachedJob, {{"transform", "random_crop(8), scale(2)"}, {"last_batch", "pad"}}));
}

// Programs that unpack archives set the time of modification; nobody can set that of the status change.
TEST_F(Cached, AFileThatIsWrittenOverWithItsOldTimeIsReadAgain) {
  const std::string path = rows();
  const std::vector<std::string> expected = stream(open("jsonl:" + path), cached());
  std::string text = read_whole(path);
  const auto time = fs::last_write_time(path);
  std::replace(text.begin(), text.end(), 'a', 'b');
  file("rows.jsonl", text);
  fs::last_write_time(path, time);
  const std::vector<std::string> changed = stream(open("jsonl:" + path), cached());
  EXPECT_NE(changed, expected);
  EXPECT_EQ(changed, stream(open("jsonl:" + path), kCachedJob));
}

TEST_F(Cached, OperatorsThatOnlyMakeRowsLargerAreLeftForLater) {
  const auto text_of = [&](const char* transform) {
    return plan_of(
               make_loader(open("raw:" + file("r", std::string(4000, '1')) + "?dtype=u8&shape=10x10&axes=HW"),
                           with(cached(), {{"transform", transform}})))[0]
        .text;
  };
  EXPECT_EQ(text_of("cast(f32), scale(2)"), "cache, cast(f32), scale(2)");
  EXPECT_EQ(text_of("center_crop(4), cast(f32)"), "center_crop(4), cache, cast(f32)");
  EXPECT_EQ(text_of("random_crop(4)"), "cache, random_crop(4)");
}

TEST_F(Cached, RecordsOfAReaderWithAFingerprintAreReadOnce) {
  TestReader reader;
  reader.fingerprint = "numbers 1";
  const Dataset dataset = reader.dataset(100);
  const std::vector<std::string> expected = stream(dataset, kCachedJob);
  EXPECT_EQ(reader.records_read, 200);
  EXPECT_EQ(stream(dataset, cached()), expected);
  EXPECT_EQ(reader.records_read, 300) << "the first epoch";
  EXPECT_EQ(stream(dataset, cached(with(kCachedJob, {{"num_workers", "0"}}))), expected);
  EXPECT_EQ(reader.records_read, 300);
  TestReader other;
  other.fingerprint = "numbers 2";
  EXPECT_EQ(stream(other.dataset(100), cached()), expected);
  EXPECT_EQ(other.records_read, 100) << "other data";
}

// Also when the job has ended, and of a job without a cache.
TEST_F(Cached, WhatWasFoundAndWhatWasMadeIsCounted) {
  const Dataset dataset = open("jsonl:" + rows());
  EXPECT_EQ(counts(dataset, cached()), std::pair(int64_t{40}, int64_t{40}))
      << "the first epoch, and the second";
  EXPECT_EQ(counts(dataset, cached()), std::pair(int64_t{80}, int64_t{0}));
  EXPECT_EQ(counts(dataset, kCachedJob), std::pair(int64_t{0}, int64_t{0}));
}

TEST_F(Cached, WhatCannotTellItsChangesIsRefused) {
  TestReader reader;
  const Dataset nameless = reader.dataset(10), numbers = counting_dataset(10);
  for (const Dataset* dataset : {&nameless, &numbers}) {
    const auto [status, message] = create_error(*dataset, cached());
    EXPECT_EQ(status, DL_ERR_UNSUPPORTED);
    EXPECT_NE(message.find("option cache: this dataset ("), std::string::npos) << message;
    EXPECT_NE(message.find("cannot detect changes of its data"), std::string::npos) << message;
  }
  EXPECT_EQ(reader.records_read, 0);
  EXPECT_FALSE(fs::exists(folder_ + "/cache"));
}

TEST_F(Cached, OptionsAreCheckedBeforeAnythingIsMade) {
  const Dataset dataset = open("jsonl:" + rows());
  EXPECT_EQ(create_error(dataset, {{"cache_bytes", "1GiB"}}),
            std::pair(DL_ERR_BAD_OPTION, std::string("option cache_bytes: needs cache")));
  EXPECT_EQ(create_error(dataset, {{"cache_quality", "90"}}),
            std::pair(DL_ERR_BAD_OPTION, std::string("option cache_quality: needs cache")));
  const auto [status, message] = create_error(dataset, {{"cache", folder_ + "/no/such"}});
  EXPECT_EQ(status, DL_ERR_NOT_FOUND);
  EXPECT_NE(message.find("option cache: " + folder_ + "/no/such: no such file or directory"),
            std::string::npos)
      << message;
  EXPECT_EQ(create_error(dataset, {{"cache", file("taken", "x")}}).first, DL_ERR_NOT_FOUND);
}

TEST_F(Cached, PartsOfASetAreKeptEachByItsOwnFile) {
  std::string bytes(800, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 3);
  const std::string first = file("a.bin", bytes), second = file("b.bin", bytes + bytes);
  const std::string keys = "?dtype=u8&shape=10";
  const std::string both = "raw:" + first + "," + second + keys;
  const std::vector<std::string> expected = stream(open(both), kCachedJob);
  EXPECT_EQ(stream(open(both), cached()), expected);
  EXPECT_EQ(counts(open(both), cached()), std::pair(int64_t{480}, int64_t{0}));
  const auto time = fs::last_write_time(second);
  file("b.bin", std::string(1600, 'm'));
  fs::last_write_time(second, time);
  EXPECT_EQ(stream(open(both), cached()), stream(open(both), kCachedJob));
  file("b.bin", bytes + bytes);
  EXPECT_EQ(counts(open(both), cached()), std::pair(int64_t{320}, int64_t{160}))
      << "of two epochs: 80 rows of the first file were kept, 160 of the second are made anew once";
}

// Of files that lie side by side in a sample, and of chosen rows, each by its own file.
TEST_F(Cached, ZippedSetsAndSubsetsAreKeptByTheFilesOfTheirRows) {
  std::string bytes(800, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 3);
  const std::string first = file("a.bin", bytes), second = file("b.bin", bytes + bytes);
  const auto open_both = [&] {
    const Dataset a = open("raw:" + first + "?dtype=u8&shape=10"),
                  b = open("raw:" + second + "?dtype=u8&shape=20");
    dl_dataset* const parts[] = {a.get(), b.get()};
    const char* names[] = {"x", "y"};
    Error error;
    dl_dataset* zip = nullptr;
    EXPECT_EQ(dl_dataset_zip(parts, names, 2, nullptr, &zip, &error), DL_OK) << error.message;
    const Dataset whole(zip);
    const int64_t indices[] = {5, 3, 70, 3, 11, 12, 13, 14, 15, 16};
    dl_dataset* subset = nullptr;
    EXPECT_EQ(dl_dataset_subset(whole.get(), indices, 10, nullptr, nullptr, nullptr, &subset, &error), DL_OK)
        << error.message;
    return Dataset(subset);
  };
  const Settings job = with(kCachedJob, {{"transform", "x: cast(f32); y: cast(f32)"}});
  const std::vector<std::string> expected = stream(open_both(), job);
  EXPECT_EQ(stream(open_both(), cached(job)), expected);
  const auto time = fs::last_write_time(second);
  file("b.bin", std::string(1600, 'm'));
  fs::last_write_time(second, time);
  const std::vector<std::string> changed = stream(open_both(), cached(job));
  EXPECT_NE(changed, expected);
  EXPECT_EQ(changed, stream(open_both(), job));
}

TEST_F(Cached, AMixKeepsItsSharesAndItsNames) {
  std::string bytes(800, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 3);
  const Dataset a = open("raw:" + file("a.bin", bytes) + "?dtype=u8&shape=10");
  const Dataset b = open("raw:" + file("b.bin", bytes + "0123456789") + "?dtype=u8&shape=10");
  std::vector<dl_mix_part> parts(2);
  for (dl_mix_part& part : parts) part.struct_size = sizeof part, part.weight = 0.5;
  parts[0].name = "a", parts[0].dataset = a.get();
  parts[1].name = "b", parts[1].dataset = b.get();
  const auto mix_of = [&] {
    Error error;
    dl_dataset* mix = nullptr;
    EXPECT_EQ(dl_dataset_mix(parts.data(), 2, nullptr, 0, -1, nullptr, &mix, &error), DL_OK) << error.message;
    return Dataset(mix);
  };
  const Settings job = with(kCachedJob, {{"transform", "cast(f32)"}});
  const std::vector<std::string> expected = stream(mix_of(), job);
  EXPECT_EQ(stream(mix_of(), cached(job)), expected);
  EXPECT_EQ(stream(mix_of(), cached(job)), expected);
  parts[1].transform = "cast(f32)";
  parts[0].transform = "cast(f32), scale(2)";
  const auto [status, message] = create_error(mix_of(), cached());
  EXPECT_EQ(status, DL_ERR_UNSUPPORTED);
  EXPECT_NE(message.find("option cache: not supported for a mix whose parts have their own transforms"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace dataline::tests::cache_test
