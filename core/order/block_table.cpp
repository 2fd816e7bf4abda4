// SPDX-License-Identifier: Apache-2.0
#include "core/order/block_table.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace dataline {

Result<BlockTable> BlockTable::create(std::span<const int64_t> ends, int64_t samples, HostMemory& memory) {
  if (ends.size() > std::numeric_limits<uint32_t>::max()) {
    return error(Code::kTooLarge, "option shuffle_block: expected at most 2^32 - 1 blocks, got ", ends.size(),
                 "; raise shuffle_block");
  }
  int64_t last = 0;
  for (const int64_t end : ends) {
    if (end <= last) return error(Code::kInternal, "a block of a source ends at ", end, ", begins at ", last);
    last = end;
  }
  if (last != samples)
    return error(Code::kInternal, "the blocks of a source end at ", last, ", it has ", samples);
  const auto bytes = static_cast<int64_t>(ends.size_bytes() + sizeof(int64_t));
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(bytes, 64, MemoryKind::kTable,
                                                   "the blocks of shuffle=window (raise shuffle_block)"));
  std::memset(block.data(), 0, sizeof(int64_t));
  std::memcpy(block.data() + sizeof(int64_t), ends.data(), ends.size_bytes());
  return BlockTable(std::move(block), static_cast<int64_t>(ends.size()));
}

int64_t BlockTable::block_of(int64_t record) const {
  return std::upper_bound(firsts() + 1, firsts() + count_, record) - firsts() - 1;
}

}  // namespace dataline
