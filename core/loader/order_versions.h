// The orders of a job's epochs. There is one, unless the caller sets its own again and again (dl_loader_set_indices):
// then each holds from an epoch on. The one before the current epoch's is kept as well, so that a state which was saved
// before the new order took effect can still be loaded.
// Threads: immutable; a change makes a new list, because batches in flight read the old one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/loader/options.h"
#include "core/order/order.h"

namespace dataline {

struct OrderVersion {
  int64_t from_epoch = 0;
  std::shared_ptr<const Order> order;
  std::string indices_digest;  // "none" without sample_indices
};

// An order together with the caller's indices, which it reads.
std::shared_ptr<const Order> own_indices(std::unique_ptr<const Order> order, HostArray<int64_t> indices);

class OrderVersions {
 public:
  explicit OrderVersions(OrderVersion first) { versions_.push_back(std::move(first)); }

  // Of those set for the same epoch the last one holds; before the first one's epoch, the first.
  const OrderVersion& of(int64_t epoch) const;
  // The order that a state of this epoch was saved under, if it is held, else the epoch's own.
  const OrderVersion& saved_under(int64_t epoch, std::string_view indices_digest) const;

  // With an order for the epochs after `current`, or from it on if none of its steps has gone out.
  OrderVersions with(OrderVersion version, int64_t current) const;
  // With `version` as the order of `epoch` again. What was set for that epoch holds from the next one on.
  OrderVersions restored(const OrderVersion& version, int64_t epoch) const;

 private:
  explicit OrderVersions(std::vector<OrderVersion> versions) : versions_(std::move(versions)) {}
  std::vector<OrderVersion> versions_;  // by from_epoch, never empty
};

}  // namespace dataline
