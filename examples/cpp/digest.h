// The digest of a stream of batches: FNV-1a of 64 bits over the bytes of all fields of each, as they come. The same seed
// gives the same digest in every language.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <dataline.hpp>

class Digest {
 public:
  void add(const dataline::Batch& batch) {
    for (const dataline::View view : batch.views()) {
      for (const std::byte byte : view.as<std::byte>()) {
        hash_ = (hash_ ^ std::to_integer<uint64_t>(byte)) * 0x100000001B3u;
      }
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325u;
};
