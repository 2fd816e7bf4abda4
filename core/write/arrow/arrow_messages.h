// The metadata of an Arrow IPC file: its schema, record batches and footer as FlatBuffers.
// Source: Apache Arrow, "Arrow Columnar Format" 1.5; Schema.fbs, Message.fbs, File.fbs, metadata V5.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/write/codec.h"

namespace dataline {

struct ArrowFileBlock {
  int64_t offset = 0;
  int32_t metadata_bytes = 0;  // with the frame before them
  int64_t body_bytes = 0;
};

struct ArrowNodeCounts {
  int64_t length = 0;
};
struct ArrowBufferPlace {
  int64_t offset = 0, bytes = 0;  // in the body
};

// What the fields are in Arrow: scalars as values, dims as lists of fixed size (as arrow.fixed_shape_tensor where the axes are
// known: is_arrow_tensor), bytes as large_binary, other ragged fields as large_list. As dl_batch_arrow has them. kUnsupported: a dtype
// that Arrow lacks.
bool is_arrow_tensor(const Field& field);
Status check_arrow_fields(const std::vector<Field>& fields);

std::vector<std::byte> arrow_schema_message(const std::vector<Field>& fields);
std::vector<std::byte> arrow_batch_message(int64_t rows, const std::vector<ArrowNodeCounts>& nodes,
                                           const std::vector<ArrowBufferPlace>& buffers, int64_t body_bytes,
                                           WriteCodec codec);
std::vector<std::byte> arrow_footer(const std::vector<Field>& fields,
                                    const std::vector<ArrowFileBlock>& batches);

}  // namespace dataline
