// Where the job stands, and going elsewhere: seek, epochs, cancel, the caller's order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/loader/loader.h"

namespace dataline {
Status Loader::check_position(Position at) const {
  if (at.epoch < 0 || at.step < 0 || at.step > steps_.count()) {
    return error(Code::kOutOfRange, "epoch ", at.epoch, ", step ", at.step,
                 ": expected epoch >= 0 and step 0 to ", steps_.count());
  }
  if (config_.epochs > 0 && (at.epoch > config_.epochs || (at.epoch == config_.epochs && at.step > 0))) {
    return error(Code::kOutOfRange, "epoch ", at.epoch, ", step ", at.step, ": expected at most epoch ",
                 config_.epochs, ", step 0: the job has ", config_.epochs, " epochs");
  }
  // Positions are counted in rows over all epochs; keep a factor of 4 below the largest integer.
  std::optional<int64_t> rows = checked_multiply(at.epoch, std::max<int64_t>(steps_.count(), 1));
  if (rows) rows = checked_multiply(*rows, std::max<int64_t>(steps_.max_rows(), 1) * 4);
  if (!rows)
    return error(Code::kOutOfRange, "epoch ", at.epoch, ": too far for ", steps_.count(), " steps an epoch");
  return Status::ok();
}

// Loads from `to` on; what was loaded ahead is left behind.
void Loader::jump(Position to) {
  abandon_all();
  position_ = to;
  base_ = to;
  base_sequence_ = head_;
  filler_->restart_lookahead();
  make_room();
  update_event();
  wake_consumers();
  publish();
}

// For the caller: as if the loader had been made there.
void Loader::start_at(Position to) {
  cancelled_.store(false);
  jump(to);
  fresh_ = true;
  told_.reset();
}

Status Loader::seek(Position to) {
  if (forked()) return forked_error();
  std::lock_guard lock(mutex_);
  DL_RETURN_IF_ERROR(check_position(to));
  start_at(to);
  return Status::ok();
}

Status Loader::begin_epoch() {
  if (forked()) return forked_error();
  std::lock_guard lock(mutex_);
  if (cancelled()) return {Code::kCancelled, ""};
  if (ended()) return {Code::kEnd, ""};
  if (!fresh_ && position_.step == steps_.count()) {
    ledger_.dropped += steps_.dropped();
    position_ = {position_.epoch + 1, 0};  // what is loaded ahead is the next epoch already
    update_event();
  } else if (!fresh_ && position_.step > 0) {
    jump({position_.epoch + 1, 0});
  }
  return ended() ? Status(Code::kEnd, "") : Status::ok();
}

Result<Position> Loader::position() const {
  if (forked()) return forked_error();
  std::lock_guard lock(mutex_);
  return position_;
}

Status Loader::set_indices(const int64_t* values, int64_t count, HostOwner owner) {
  if (forked()) return forked_error();
  if (!config_.has_indices) {
    return error(Code::kWrongState, "set_indices: this loader was not created with sample_indices");
  }
  if (count != steps_.slots()) {
    return error(Code::kInvalidArgument, "set_indices: expected ", steps_.slots(), " indices, got ", count);
  }
  std::shared_ptr<HostLoan> loan;
  HostArray<int64_t> indices;
  if (owner.lends()) {
    loan = std::make_shared<HostLoan>();
    indices = {std::shared_ptr<const int64_t>(loan, values), count, true};
  } else {
    indices = hold_array(values, count, owner);
  }
  OrderSpec spec;
  spec.sample_count = pipeline_.source->count();
  spec.has_indices = true;
  spec.indices = indices.span();
  spec.memory = memory_;
  DL_ASSIGN_OR_RETURN(auto order, Order::create(spec));
  Digest digest;
  digest.add(std::as_bytes(indices.span()));

  OrderVersion version{0, own_indices(std::move(order), std::move(indices)), digest.hex()};

  std::vector<OrderVersion> orders;
  std::lock_guard lock(mutex_);
  version.from_epoch = position_.step == 0 ? position_.epoch : position_.epoch + 1;
  for (const OrderVersion& earlier : orders_) {
    if (earlier.from_epoch <= position_.epoch) orders.push_back(earlier);
  }
  if (orders.empty()) orders.push_back({0, orders_.front().order, orders_.front().indices_digest});
  const int64_t from_epoch = version.from_epoch;
  orders.push_back(std::move(version));
  orders_.swap(orders);
  if (loan != nullptr) loan->take(owner);  // nothing fails from here on
  while (orders_.size() > 2 && orders_[2].from_epoch <= position_.epoch) orders_.erase(orders_.begin());
  forget_orders();
  const int64_t opened = opened_.load(std::memory_order_relaxed);
  if (opened > head_ && position_of(opened - 1).epoch >= from_epoch) jump(position_);
  return Status::ok();
}

// Batches that a seek or new indices left behind read the old ones until their workers are out.
std::shared_ptr<const Order> Loader::own_indices(std::unique_ptr<const Order> order,
                                                 HostArray<int64_t> indices) {
  struct Owned {
    HostArray<int64_t> indices;
    std::unique_ptr<const Order> order;  // reads them
  };
  auto owned = std::make_shared<Owned>(Owned{std::move(indices), std::move(order)});
  return {owned, owned->order.get()};
}

// Those of batches that are filled: a place of the window keeps its order until it is used again.
void Loader::forget_orders() {
  for (InFlight& place : window_) {
    if (place.runs_left.load(std::memory_order_acquire) == 0) place.order.order.reset();
  }
}

// Of those set for the same epoch the last one holds; before the first one's epoch, the first.
const Loader::OrderVersion& Loader::order_of(int64_t epoch) const {
  const auto version = std::find_if(orders_.rbegin(), orders_.rend() - 1,
                                    [&](const OrderVersion& v) { return v.from_epoch <= epoch; });
  return *version;
}

// The order that a state of this epoch was saved under, if it is held: mostly the epoch's own. Else the epoch's own.
const Loader::OrderVersion& Loader::order_saved(int64_t epoch, std::string_view indices_digest) const {
  const OrderVersion& own = order_of(epoch);
  if (own.indices_digest == indices_digest) return own;
  const auto found = std::find_if(orders_.rbegin(), orders_.rend(),
                                  [&](const OrderVersion& v) { return v.indices_digest == indices_digest; });
  return found != orders_.rend() ? *found : own;
}

// Makes `version` the order of `epoch` again. What was set for that epoch holds from the next one, and states that were
// saved under it can still be loaded.
void Loader::restore_order(const OrderVersion& version, int64_t epoch) {
  if (&order_of(epoch) == &version) return;
  std::vector<OrderVersion> orders;
  for (const OrderVersion& other : orders_) {
    if (other.from_epoch <= epoch) orders.push_back(other);
  }
  std::erase_if(orders, [&](const OrderVersion& other) {
    return other.from_epoch == epoch && other.indices_digest == version.indices_digest;
  });
  orders.push_back({epoch, version.order, version.indices_digest});
  const OrderVersion& next = order_of(epoch + 1);
  if (next.from_epoch == epoch) orders.push_back({epoch + 1, next.order, next.indices_digest});
  for (const OrderVersion& other : orders_) {
    if (other.from_epoch > epoch) orders.push_back(other);
  }
  orders_.swap(orders);
}

void Loader::cancel() noexcept {
  if (forked()) return;
  cancelled_.store(true);
  ready_.notify_all();
  if (has_event_.load()) event_->raise();  // update_event() looks at cancelled() after it lowers
}

void Loader::cancel_by_token() noexcept {
  token_cancelled_.store(true);
  ready_.notify_all();
  if (has_event_.load()) event_->raise();
}

void Loader::interrupt() noexcept {
  if (forked()) return;
  interrupts_.fetch_add(1);
  ready_.notify_all();
}

}  // namespace dataline
