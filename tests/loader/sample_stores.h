// What the tests of a cache's files share: stores in a directory of their own, and samples that their number tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/loader/cache/sample_store.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests {

inline constexpr char kKey[] = "0123456789abcdef", kOtherKey[] = "fedcba9876543210";

// What a sample's bytes are, by its number: of different lengths.
inline std::string bytes_of_sample(int64_t sample) {
  std::string bytes;
  for (int64_t i = 0; i < 100 + sample % 37; ++i) bytes += static_cast<char>(sample * 31 + i);
  return bytes;
}

inline Bytes view(const std::string& text) { return std::as_bytes(std::span(text)); }

class SampleStores : public ::testing::Test {
 protected:
  ~SampleStores() override { std::filesystem::remove_all(folder_); }

  StoreSettings settings(const char* key = kKey, int64_t budget = int64_t{1} << 30) {
    StoreSettings out{.directory = folder_ + "/cache", .budget_bytes = budget, .key = key, .samples = 1000};
    out.log.context = &warnings_;
    out.log.write = [](void* context, int32_t, const char* text, size_t length) {
      static_cast<std::vector<std::string>*>(context)->emplace_back(text, length);
    };
    return out;
  }
  static std::unique_ptr<SampleStore> open(StoreSettings settings) {
    Result<std::unique_ptr<SampleStore>> store = SampleStore::open(std::move(settings));
    EXPECT_TRUE(store.is_ok()) << store.status().message();
    return store.is_ok() ? store.take() : nullptr;
  }
  static std::string read(const SampleStore& store, int64_t sample, uint64_t stamp = 7) {
    std::string out(4096, '?');
    const int64_t bytes = store.read(sample, stamp, reinterpret_cast<std::byte*>(out.data()), 4096);
    return bytes < 0 ? "none" : out.substr(0, static_cast<size_t>(bytes));
  }
  static void keep(SampleStore& store, int64_t first, int64_t end, uint64_t stamp = 7) {
    for (int64_t i = first; i < end; ++i) store.keep(i, stamp, view(bytes_of_sample(i)));
  }
  static int64_t count_kept(const SampleStore& store, int64_t first, int64_t end) {
    int64_t count = 0;
    for (int64_t i = first; i < end; ++i) {
      const std::string got = read(store, i);
      if (got == "none") continue;
      EXPECT_EQ(got, bytes_of_sample(i)) << i;
      ++count;
    }
    return count;
  }
  std::string path(const std::string& name, const char* key = kKey) const {
    return folder_ + "/cache/" + key + "/" + name;
  }
  int64_t bytes_in_directory() const {
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/cache"))
      if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
    return bytes;
  }
  void change_byte(const std::string& file, int64_t at) const {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get());
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 16));
  }

  const std::string folder_ = make_temp_folder("dataline-store");
  std::vector<std::string> warnings_;
};

}  // namespace dataline::tests
