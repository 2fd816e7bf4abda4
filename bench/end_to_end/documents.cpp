// Documents of 64 to 1,087 u16 tokens in Megatron's indexed dataset (bench/peers writes it), shuffled, batches of 64, each with its own
// length.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bench/end_to_end/u8_rows.h"

namespace bench {

namespace {

constexpr int64_t kTokenBytes = 2;
constexpr int64_t kDocumentBatchSize = 64;

// Where documents begin in so many tokens, and where the last ends: bench/peers/megatron_documents.py has the same.
std::vector<int64_t> document_begins(int64_t token_count) {
  std::vector<int64_t> begins = {0};
  for (int64_t document = 0;; ++document) {
    const int64_t end = begins.back() + 64 + document * 389 % 1024;
    if (end > token_count) return begins;
    begins.push_back(end);
  }
}

}  // namespace

std::vector<Variant> megatron(const Settings& settings) {
  const int64_t token_count = settings.small ? 2'000'000 : 100'000'000;
  const Mapping map(random_tokens_file(settings.data_dir, token_count));
  const std::vector<int64_t> begins = document_begins(token_count);
  const std::string uri =
      "megatron:" + settings.data_dir + "/documents_" + std::to_string(token_count) + ".megatron/tokens";
  std::vector<Variant> variants;
  for (const int workers : {0, 1, 2}) {
    auto job = std::make_shared<Job>(uri, OptionList{{"batch_size", std::to_string(kDocumentBatchSize)},
                                                     {"shuffle", "full"},
                                                     {"num_workers", std::to_string(workers)}});
    job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
      const auto* bytes = static_cast<const std::byte*>(views[0].data) + views[0].byte_offset;
      const int64_t first = views[0].offsets[row], count = views[0].offsets[row + 1] - first;
      const int64_t begin = begins[static_cast<size_t>(sample)],
                    end = begins[static_cast<size_t>(sample) + 1];
      return count == end - begin &&
             std::memcmp(bytes + first * kTokenBytes, map.data() + begin * kTokenBytes,
                         static_cast<size_t>(count * kTokenBytes)) == 0;
    });
    variants.push_back(job_variant(workers, std::move(job)));
  }
  return variants;
}

}  // namespace bench
