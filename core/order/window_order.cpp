// shuffle=window of one set: its blocks, each once an epoch (window_order.h).
// SPDX-License-Identifier: Apache-2.0
#include "core/order/window_order.h"

#include <utility>

#include "core/order/block_table.h"

namespace dataline {
namespace {

class SetBlocks {
 public:
  explicit SetBlocks(BlockTable table) : table_(std::move(table)) {}

  int64_t count() const { return table_.count(); }
  int64_t places() const { return table_.end(); }
  LineBlock take(int64_t, int64_t number) const {
    return {static_cast<uint32_t>(number), table_.records(number).count};
  }
  int64_t sample(int64_t, uint32_t number, int64_t, int64_t at) const { return table_.first(number) + at; }
  RecordRange records(uint32_t number) const { return table_.records(number); }
  int64_t allocated_bytes() const { return table_.allocated_bytes(); }
  void add_to(Digest& digest) const { table_.add_to(digest); }

 private:
  BlockTable table_;
};

}  // namespace

Result<std::unique_ptr<const Order>> window_order(const OrderSpec& spec, SimdTarget target) {
  DL_ASSIGN_OR_RETURN(BlockTable table, BlockTable::create(spec.block_ends, spec.sample_count, *spec.memory));
  const WindowSpec windows{spec.seed, spec.open_blocks, spec.step_slots, target};
  return std::unique_ptr<const Order>(
      std::make_unique<const WindowOrder<SetBlocks>>(windows, SetBlocks(std::move(table))));
}

}  // namespace dataline
