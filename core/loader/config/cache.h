// The options cache, cache_bytes and cache_quality (core/loader/cache/kept_samples.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

struct CacheConfig {
  std::string directory;  // "": no cache
  int64_t bytes = -1;     // limit for the directory; -1: leave a tenth of its file system free
  int64_t quality = 0;    // re-encode images as JPEG with this quality; 0: store the decoded pixels
};

}  // namespace dataline
