// Indexes as Megatron-LM writes them, made number by number so that each can be wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tests/source/source_support.h"

namespace dataline {

struct MegatronIndex {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t code = 8;  // u16
  std::vector<int32_t> lengths;
  std::vector<int64_t> pointers;
  std::vector<int64_t> documents;
  std::string modes = {};
  int64_t sequence_count = -1, document_count = -1;  // as the header says, if not the true ones

  std::string bytes() const {
    const auto count = [](int64_t said, size_t there) {
      return said >= 0 ? said : static_cast<int64_t>(there);
    };
    return magic + raw_bytes(version) + raw_bytes(code) + raw_bytes(count(sequence_count, lengths.size())) +
           raw_bytes(count(document_count, documents.size())) + raw_bytes(lengths) + raw_bytes(pointers) +
           raw_bytes(documents) + modes;
  }
};

// Sequences of these lengths, of which each document has as many as `sequences` says; tokens of `token_bytes`.
inline MegatronIndex megatron_index(std::vector<int32_t> lengths, const std::vector<int64_t>& sequences,
                                    int64_t token_bytes = 2) {
  MegatronIndex index;
  int64_t at = 0;
  for (const int32_t length : lengths) {
    index.pointers.push_back(at);
    at += length * token_bytes;
  }
  index.lengths = std::move(lengths);
  index.documents = {0};
  for (const int64_t count : sequences) index.documents.push_back(index.documents.back() + count);
  return index;
}

}  // namespace dataline
