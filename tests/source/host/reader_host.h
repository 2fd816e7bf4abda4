// A host whose callbacks a test's functions answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/source/host/host.h"
#include "tests/source/source_support.h"

namespace dataline {

// A host that answers each call through a function of the test's.
struct Host {
  using Read = std::function<int32_t(ReaderRequest& request)>;
  Read read;
  int destroyed = 0, released = 0;
  std::vector<int64_t> calls;  // records asked for, a call each

  ReaderTable table(int64_t record_count) {
    ReaderTable out;
    out.context = this;
    out.record_count = record_count;
    out.read = [](void* context, ReaderRequest* request) {
      auto* host = static_cast<Host*>(context);
      host->calls.push_back(request->record_count);
      EXPECT_EQ(request->message_bytes, int64_t{kReaderMessageBytes});
      const auto message_bytes = static_cast<size_t>(request->record_count) * kReaderMessageBytes;
      EXPECT_EQ(std::string(message_bytes, '\0'), std::string(request->messages, message_bytes))
          << "messages are not zeroed";
      return host->read(*request);
    };
    out.destroy = [](void* context) { ++static_cast<Host*>(context)->destroyed; };
    return out;
  }
  // What is lent for the call goes back through `released`.
  void lend(ReaderRequest& request) {
    request.release_context = this;
    request.release = [](void* context) { ++static_cast<Host*>(context)->released; };
  }
};

inline char* message_of(ReaderRequest& request, int64_t record) {
  return request.messages + record * request.message_bytes;
}

inline Field dense_field(std::string name, DType dtype, std::vector<int64_t> shape) {
  return {std::move(name), FieldKind::kDense, dtype, std::move(shape), "", -1};
}
inline Field ragged_field(std::string name, DType dtype, std::vector<int64_t> shape, int64_t max_bytes = -1) {
  return {std::move(name), FieldKind::kRagged, dtype, std::move(shape), "", max_bytes};
}

// Two fields: `id` (i64) = index, `text` (ragged u8) = index times 'a'.
inline int32_t read_ids(ReaderRequest& request) {
  ReaderCell* cells = request.cells;
  for (int32_t r = 0; r < request.record_count; ++r) {
    const int64_t index = request.indices[r];
    std::memcpy(cells[2 * r].data, &index, 8);
    cells[2 * r + 1].bytes = index;
    std::memset(cells[2 * r + 1].data, 'a', static_cast<size_t>(index));
  }
  return 0;
}

class ReaderTest : public testing::Test {
 protected:
  SourceRef make(Host::Read read, int64_t count = 100) {
    host_.read = std::move(read);
    return reader_source({dense_field("id", DType::kI64, {}), ragged_field("text", DType::kU8, {-1})},
                         host_.table(count), *HostMemory::create({}))
        .take();
  }
  // One text field of u16, whose answer is `answer`.
  Fetched fetch_text(std::function<void(ReaderCell&)> answer, int64_t max_bytes = -1, int64_t option = 64) {
    host_.read = [answer](ReaderRequest& request) {
      for (int32_t r = 0; r < request.record_count; ++r) answer(request.cells[r]);
      return 0;
    };
    SourceRef source = reader_source({ragged_field("text", DType::kU16, {-1}, max_bytes)}, host_.table(10),
                                     *HostMemory::create({}))
                           .take();
    FetchOptions options;
    options.max_bytes_per_sample = option;
    return fetch(*source, {7}, options);
  }

  Host host_;
};

}  // namespace dataline
