// Parquet files (bench/peers writes them) in windows of row groups, by the plug-in: numbers, and documents.
// Once with a cache that holds a third of what is read, so that each row group is decoded once an epoch, and once with all of it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/parquet.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bench/end_to_end/documents.h"
#include "bench/end_to_end/u8_rows.h"

namespace bench {

const char* parquet_plugin() {
  const char* plugin = std::getenv("DATALINE_PARQUET_PLUGIN");
  if (plugin == nullptr) fail("DATALINE_PARQUET_PLUGIN is not set");
  return plugin;
}

namespace {

// `cache_bytes`: a third of an epoch, decoded. `check` fails where a job delivers anything else.
std::vector<Variant> in_windows(const std::string& uri, const char* batch_size, int64_t cache_bytes,
                                const std::function<void(Job&)>& check) {
  std::vector<Variant> variants;
  for (const bool cached : {false, true}) {
    const std::string cache = cached ? "" : "&cache_bytes=" + std::to_string(cache_bytes);
    for (const int workers : {0, 1, 2}) {
      const OptionList options = {
          {"batch_size", batch_size}, {"shuffle", "window"}, {"num_workers", std::to_string(workers)}};
      auto job = std::make_shared<Job>(uri + cache, options, nullptr, parquet_plugin());
      check(*job);
      variants.push_back(job_variant(workers, std::move(job), cached ? "in the cache " : ""));
    }
  }
  return variants;
}

// As bench/peers/parquet_sets.py has it.
uint64_t number_of(int64_t sample, int64_t column) {
  uint64_t bits = static_cast<uint64_t>(sample * 100 + column) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u;
  return bits ^ (bits >> 32);
}

}  // namespace

// Three of 100 columns of 8 bytes.
std::vector<Variant> parquet(const Settings& settings) {
  const int64_t count = settings.small ? 48'000 : 480'000;
  const std::string path = settings.data_dir + "/numbers_" + std::to_string(count) + "x100.parquet";
  return in_windows("parquet:" + path + "?fields=c3,c50,c97", "256", count * 3 * 8 / 3, [](Job& job) {
    job.checked_epoch([](const dl_view* views, int64_t row, int64_t sample) {
      uint64_t got[3];
      for (int64_t f = 0; f < 3; ++f) std::memcpy(&got[f], row_data(views[f], row), sizeof got[f]);
      return got[0] == number_of(sample, 3) && got[1] == number_of(sample, 50) &&
             got[2] == number_of(sample, 97);
    });
  });
}

// A list of u16 for each.
std::vector<Variant> parquet_tokens(const Settings& settings) {
  constexpr int64_t kLeast = int64_t{32} << 20;  // small sets: decoding a row group takes ten times its bytes
  const int64_t third = std::max(document_token_count(settings) * 2 / 3, kLeast);
  return in_windows("parquet:" + documents_path(settings, "parquet") + "?fields=tokens", kDocumentBatch,
                    third, [&](Job& job) { check_documents(job, settings); });
}

}  // namespace bench
