// Messages of Arrow files whose buffers are compressed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/source/arrow/arrow_files.h"

namespace dataline {

// What stands in place of a buffer that is compressed; `number`: which one of the message.
using ArrowFrames = std::function<std::string(size_t number, const std::string& buffer)>;

// With a codec of the format's: 0 LZ4, 1 Zstandard. Empty buffers stay empty.
inline TestMessage arrow_compressed(const TestMessage& plain, int8_t codec, const ArrowFrames& frames) {
  TestMessage out = plain;
  out.codec = codec;
  out.body.clear();
  for (size_t b = 0; b < plain.buffers.size(); ++b) {
    const std::string buffer =
        plain.body.substr(static_cast<size_t>(plain.buffers[b][0]), static_cast<size_t>(plain.buffers[b][1]));
    const std::string frame = buffer.empty() ? "" : frames(b, buffer);
    out.buffers[b] = {static_cast<int64_t>(out.body.size()), static_cast<int64_t>(frame.size())};
    out.body += frame;
    while (out.body.size() % 8 != 0) out.body += '\0';
  }
  return out;
}

}  // namespace dataline
