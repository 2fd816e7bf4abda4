// Documents in Megatron's indexed dataset (bench/peers writes it), shuffled, batches of 64, each with its own length.
// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/documents.h"

#include <cstring>

#include "bench/end_to_end/u8_rows.h"

namespace bench {

namespace {

constexpr int64_t kTokenBytes = 2;

// Where documents begin, and where the last ends: bench/peers/contender.py has the same.
std::vector<int64_t> document_begins(int64_t token_count) {
  std::vector<int64_t> begins = {0};
  for (int64_t document = 0;; ++document) {
    const int64_t end = begins.back() + 64 + document * 389 % 1024;
    if (end > token_count) return begins;
    begins.push_back(end);
  }
}

}  // namespace

int64_t document_token_count(const Settings& settings) { return settings.small ? 2'000'000 : 100'000'000; }

std::string documents_path(const Settings& settings, const std::string& format) {
  return settings.data_dir + "/documents_" + std::to_string(document_token_count(settings)) + "." + format;
}

void check_documents(Job& job, const Settings& settings) {
  const int64_t token_count = document_token_count(settings);
  const Mapping map(random_tokens_file(settings.data_dir, token_count));
  const std::vector<int64_t> begins = document_begins(token_count);
  job.checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
    const auto* bytes = static_cast<const std::byte*>(views[0].data) + views[0].byte_offset;
    const int64_t first = views[0].offsets[row], count = views[0].offsets[row + 1] - first;
    const int64_t begin = begins[static_cast<size_t>(sample)], end = begins[static_cast<size_t>(sample) + 1];
    return count == end - begin && std::memcmp(bytes + first * kTokenBytes, map.data() + begin * kTokenBytes,
                                               static_cast<size_t>(count * kTokenBytes)) == 0;
  });
}

std::vector<Variant> megatron(const Settings& settings) {
  const std::string uri = "megatron:" + documents_path(settings, "megatron") + "/tokens";
  std::vector<Variant> variants;
  for (const int workers : {0, 1, 2}) {
    auto job = std::make_shared<Job>(uri, OptionList{{"batch_size", kDocumentBatch},
                                                     {"shuffle", "full"},
                                                     {"num_workers", std::to_string(workers)}});
    check_documents(*job, settings);
    variants.push_back(job_variant(workers, std::move(job)));
  }
  return variants;
}

}  // namespace bench
