// A fuzz target. A program has several; the environment variable DATALINE_FUZZ_TARGET names the one that it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

namespace dataline::fuzz {

// `run` must return whatever the bytes are; an abort is a find. Targets are static objects; `name` is that of targets.txt.
struct Target {
  Target(const char* name, std::function<void(std::string_view)> run);
};

inline uint8_t byte_at(std::string_view input, size_t at) { return static_cast<uint8_t>(input[at]); }

// A copy as large as the input: a sanitizer sees reads beyond it.
inline std::unique_ptr<std::byte[]> exact_copy(std::string_view input) {
  std::unique_ptr<std::byte[]> copy(new std::byte[input.size()]);
  if (!input.empty()) std::memcpy(copy.get(), input.data(), input.size());
  return copy;
}

}  // namespace dataline::fuzz
