// The header of a .safetensors file: which tensors it has, and where they lie.
//
//   0      N, u64, at most 100,000,000
//   8      N bytes of JSON that begin with '{' and may end with spaces:
//          {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"KEY": "TEXT", ...}}
//   8 + N  the data, in C order, little-endian, at any alignment
//
// data_offsets count from 8 + N. The tensors fill the file from there to its end without holes and overlaps, and each has
// the bytes that its dtype and shape ask for. Nothing else is accepted: no name twice, no key that is not named here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"

namespace dataline {

constexpr int64_t kMaxSafetensorsHeaderBytes = 100'000'000;  // the format's own limit

struct Tensor {
  explicit Tensor(std::pmr::memory_resource* memory) : name(memory), stored_as(memory), shape(memory) {}

  std::pmr::string name;
  std::pmr::string stored_as;       // its dtype, as written
  std::optional<DType> dtype;       // nothing: not read
  std::pmr::vector<int64_t> shape;  // of those of more than kMaxRank dims, the first kMaxRank + 1
  int64_t begin = 0, end = 0;       // data_offsets
};

// A hundred million bytes of header are many tensors and long names: counted.
struct SafetensorsHeader {
  explicit SafetensorsHeader(std::shared_ptr<HostMemory> counted)
      : memory(std::make_unique<MetadataResource>(std::move(counted))), tensors(memory.get()) {}

  std::unique_ptr<MetadataResource> memory;
  std::pmr::vector<Tensor> tensors;  // in the order of their data
  std::string format;                // of __metadata__: which library wrote it for which; empty: not said
  int64_t data_offset = 0;           // of data_offsets 0 in the file
};

// kTruncated, kCorrupt, kTooLarge (too many tensors), kUnsupported (a name that cannot be a field's); kCancelled;
// std::bad_alloc. A dtype or rank that is not read is no error here.
Result<SafetensorsHeader> read_safetensors_header(const MappedFile& file, const OpenContext& context);

}  // namespace dataline
