// The options cache, cache_bytes and cache_quality (core/loader/cache/kept_samples.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

struct CacheConfig {
  std::string directory;  // "": no cache
  int64_t bytes = -1;     // of the directory; -1: a tenth of its file system stays free
  int64_t quality = 0;    // of JPEG, for its images; 0: as they are
};

}  // namespace dataline
