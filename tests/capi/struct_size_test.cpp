// Structs of other sizes: an older caller's struct is filled as far as it goes, and nothing past it is touched.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>

#include "tests/support/job.h"

namespace dataline::tests::struct_size_test {
namespace {

constexpr unsigned char kGuard = 0xA5;

// A struct that is said to have `size` bytes, in a block of guard bytes.
template <typename T>
struct Guarded {
  alignas(T) unsigned char block[sizeof(T) + 64];
  uint32_t size;

  explicit Guarded(uint32_t bytes) : size(bytes) {
    std::memset(block, kGuard, sizeof block);
    std::memcpy(block, &size, sizeof size);
  }
  T* get() { return reinterpret_cast<T*>(block); }
  bool untouched_from(size_t begin) const {
    for (size_t i = begin; i < sizeof block; ++i) {
      if (block[i] != kGuard) return false;
    }
    return true;
  }
};

// `fill` writes a T: every smaller size gets a prefix of what the whole struct gets.
template <typename T, typename Fill>
void expect_prefixes(Fill fill) {
  Guarded<T> whole(sizeof(T));
  ASSERT_EQ(fill(whole.get()), DL_OK);
  EXPECT_TRUE(whole.untouched_from(sizeof(T)));
  for (uint32_t size = 4; size < sizeof(T); ++size) {
    Guarded<T> part(size);
    ASSERT_EQ(fill(part.get()), DL_OK) << size;
    ASSERT_TRUE(part.untouched_from(size)) << size;
    ASSERT_EQ(std::memcmp(part.block + 4, whole.block + 4, size - 4), 0) << size;
    ASSERT_EQ(std::memcmp(part.block, &size, 4), 0) << "struct_size stays the caller's";
  }
  Guarded<T> newer(sizeof(T) + 32);
  ASSERT_EQ(fill(newer.get()), DL_OK);
  EXPECT_TRUE(newer.untouched_from(sizeof(T))) << "what this release does not know is left alone";
}

TEST(StructSize, StatsInfosAndBadSamplesAreCutToTheCallersSize) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 1; };
  Dataset dataset = reader.dataset(10);
  Loader loader = make_loader(dataset, {{"on_error", "replace"}, {"num_workers", "0"}});
  Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  expect_prefixes<dl_stats>([&](dl_stats* out) { return dl_loader_stats(loader.get(), out, nullptr); });
  expect_prefixes<dl_tuned>([&](dl_tuned* out) { return dl_loader_tuned(loader.get(), out, nullptr); });
  dl_metrics* metrics = nullptr;
  ASSERT_EQ(dl_loader_metrics(loader.get(), &metrics, nullptr), DL_OK);
  expect_prefixes<dl_metric>([&](dl_metric* out) { return dl_metrics_at(metrics, 0, out, nullptr); });
  dl_metrics_destroy(metrics);
  expect_prefixes<dl_plan_stage>(
      [&](dl_plan_stage* out) { return dl_loader_plan_at(loader.get(), 0, out, nullptr); });
  expect_prefixes<dl_batch_info>(
      [&](dl_batch_info* out) { return dl_batch_get_info(got.batch.get(), out, nullptr); });
  expect_prefixes<dl_bad_sample>(
      [&](dl_bad_sample* out) { return dl_loader_bad_sample_at(loader.get(), 0, out, nullptr); });
}

TEST(StructSize, TheProgressOfAnOpeningIsCutToTheCallersSize) {
  dl_opening* opening = nullptr;
  ASSERT_EQ(dl_dataset_open_async("npy:nowhere", nullptr, &opening, nullptr), DL_OK);
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_opening_wait(opening, -1, &dataset, nullptr), DL_ERR_NOT_FOUND);
  expect_prefixes<dl_progress>([&](dl_progress* out) { return dl_opening_progress(opening, out, nullptr); });
  dl_opening_destroy(opening);
}

TEST(StructSize, TablesAreCutToTheCallersSize) {
  expect_prefixes<dl_launcher>([](dl_launcher* out) {
    const char* const environment[] = {"RANK=1", "WORLD_SIZE=2", nullptr};
    return dl_launcher_detect(environment, out, nullptr);
  });
  expect_prefixes<dl_option_info>([](dl_option_info* out) { return dl_option_at(0, out, nullptr); });
  expect_prefixes<dl_transform_info>(
      [](dl_transform_info* out) { return dl_transform_at(nullptr, 0, out, nullptr); });
  expect_prefixes<dl_argument_info>(
      [](dl_argument_info* out) { return dl_transform_argument_at(nullptr, 0, 0, out, nullptr); });
}

TEST(StructSize, AnErrorOfAnySizeIsWrittenOnlyInsideIt) {
  for (uint32_t size = 0; size <= sizeof(dl_error) + 32; ++size) {
    Guarded<dl_error> error(size);
    ASSERT_EQ(dl_options_set(nullptr, "seed", "1", error.get()), DL_ERR_INVALID_ARGUMENT);
    ASSERT_TRUE(error.untouched_from(std::min<size_t>(std::max<uint32_t>(size, 4), sizeof(dl_error))))
        << size;
    if (size <= offsetof(dl_error, message)) continue;
    const size_t room = std::min<size_t>(size, sizeof(dl_error)) - offsetof(dl_error, message);
    ASSERT_LT(strnlen(error.get()->message, room), room) << "ends with a NUL at size " << size;
    ASSERT_EQ(error.get()->code, DL_ERR_INVALID_ARGUMENT);
  }
}

TEST(StructSize, ErrorInitFillsNoMoreThanItIsTold) {
  for (uint32_t size = 0; size <= sizeof(dl_error); ++size) {
    Guarded<dl_error> error(0xA5A5A5A5);
    dl_error_init(error.get(), size);
    ASSERT_TRUE(error.untouched_from(size)) << size;
    if (size < offsetof(dl_error, message)) continue;
    ASSERT_EQ(error.get()->struct_size, size);
    ASSERT_EQ(error.get()->sample_index, -1);
  }
  const dl_error initial = DL_ERROR_INIT;
  Error made;
  EXPECT_EQ(std::memcmp(&initial, static_cast<dl_error*>(&made), sizeof initial), 0)
      << "the macro does the same";
}

TEST(StructSize, AnErrorIsWrittenOnlyWhenThereIsOne) {
  Dataset dataset = counting_dataset(1);
  Loader loader = make_loader(dataset, {{"epochs", "1"}});
  Error error;
  error.code = 77;
  snprintf(error.message, sizeof error.message, "as it was");
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_OK);
  dl_batch_release(batch);
  EXPECT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_END_OF_EPOCH);
  EXPECT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_END);
  EXPECT_EQ(error.code, 77);
  EXPECT_STREQ(error.message, "as it was");
}

TEST(StructSize, InputTablesThatAreTooSmallAreRefused) {
  Error error;
  Options options = make_options();
  dl_allocator allocator = {};
  allocator.struct_size = sizeof allocator - 8;
  allocator.allocate = [](void*, size_t, size_t, int32_t) -> void* { return nullptr; };
  allocator.release = [](void*, void*, size_t, size_t, int32_t) {};
  EXPECT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_ERR_INVALID_ARGUMENT);
  dl_log log = {};
  EXPECT_EQ(dl_options_set_log(options.get(), &log, &error), DL_ERR_INVALID_ARGUMENT);
  dl_array array = {};
  array.name = "data";
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(&array, 1, nullptr, nullptr, nullptr, &dataset, &error),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("struct_size"), std::string::npos) << error.message;
  dl_reader reader = {};
  EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &dataset, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("struct_size"), std::string::npos) << error.message;
  EXPECT_EQ(dataset, nullptr);
}

// True for well-formed UTF-8 of the characters that these tests use.
bool is_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

TEST(Messages, ACutLeavesWholeCharacters) {
  for (const char* character : {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x93\x88"}) {
    for (int shift = 0; shift < 4; ++shift) {
      std::string key(static_cast<size_t>(shift), 'x');
      while (key.size() < 900) key += character;
      Error error;
      ASSERT_EQ(dl_options_set(make_options().get(), key.c_str(), "1", &error), DL_ERR_UNKNOWN_OPTION);
      const size_t length = strnlen(error.message, sizeof error.message);
      ASSERT_LE(length, 511u);
      ASSERT_GT(length, 511u - 4u) << "as much as fits";
      EXPECT_TRUE(is_utf8(error.message)) << shift << " " << character;
    }
  }
}

TEST(Messages, OfBadSamplesAreCutAtWholeCharactersToo) {
  for (int shift = 0; shift < 3; ++shift) {
    static int text_shift;
    text_shift = shift;
    const auto read = [](void*, dl_reader_request* request) {
      std::string text(static_cast<size_t>(text_shift), 'x');
      while (text.size() + 4 < static_cast<size_t>(request->message_bytes)) text += "\xE2\x82\xAC";
      std::memcpy(request->messages, text.c_str(), text.size() + 1);
      return 1;
    };
    Dataset dataset = reader_dataset({field_of("data", DL_DTYPE_U8)}, 1, read);
    Loader loader = make_loader(dataset, {{"num_workers", "0"}});
    EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    Error error;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, &error), DL_OK) << error.message;
    EXPECT_LT(strnlen(bad.message, sizeof bad.message), sizeof bad.message);
    EXPECT_TRUE(is_utf8(bad.message)) << bad.message;
  }
}

}  // namespace
}  // namespace dataline::tests::struct_size_test
