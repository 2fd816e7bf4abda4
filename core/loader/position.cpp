// Where the job stands, and going elsewhere: seek, epochs, saved states, cancel, the caller's order and workers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/checked.h"
#include "core/loader/config.h"
#include "core/loader/loader.h"

namespace dataline {

bool Loader::ended() const { return config_->job.epochs > 0 && position_.epoch >= config_->job.epochs; }

Status Loader::check_position(Position at) const {
  if (at.epoch < 0 || at.step < 0 || at.step > steps_.count()) {
    return error(Code::kOutOfRange, "epoch ", at.epoch, ", step ", at.step,
                 ": expected epoch >= 0 and step 0 to ", steps_.count());
  }
  if (config_->job.epochs > 0 &&
      (at.epoch > config_->job.epochs || (at.epoch == config_->job.epochs && at.step > 0))) {
    return error(Code::kOutOfRange, "epoch ", at.epoch, ", step ", at.step, ": expected at most epoch ",
                 config_->job.epochs, ", step 0: the job has ", config_->job.epochs, " epochs");
  }
  // Positions are counted in rows over all epochs; keep a factor of 4 below the largest integer.
  std::optional<int64_t> rows = checked_multiply(at.epoch, std::max<int64_t>(steps_.count(), 1));
  if (rows) rows = checked_multiply(*rows, std::max<int64_t>(steps_.max_rows(), 1) * 4);
  if (rows && book_.mix() != nullptr)
    rows = checked_multiply(at.epoch + 2, steps_.slots());  // numbered through
  if (!rows)
    return error(Code::kOutOfRange, "epoch ", at.epoch, ": too large for ", steps_.count(),
                 " steps per epoch");
  return Status::ok();
}

// Loads from `to` on; what was loaded ahead is abandoned.
void Loader::jump(Position to) {
  window_->restart(to);
  position_ = to;
  filler_->restart_lookahead();
  delivery_->want(window_->head());
  update_handle();
  gate_.wake();
  pool_->notify();
}

// For the caller: as if the loader had been made there.
void Loader::start_at(Position to) {
  gate_.clear_cancel();
  static_cast<void>(gate_.interrupts().take_pending());
  end_loop(EpochLoop::State::kEnded);
  jump(to);
  fresh_ = true;
  reported_.reset();
}

void Loader::pass_epoch() {
  ledger_.dropped += steps_.dropped();
  position_ = {position_.epoch + 1, 0};  // what is loaded ahead is the next epoch already
  end_loop(EpochLoop::State::kFinished);
  update_handle();
}

// The current loop is over; its consumers learn that when they look next, and those who wait look now.
void Loader::end_loop(EpochLoop::State how) {
  if (loop_ == nullptr) return;
  loop_->state = how;
  loop_.reset();
  gate_.wake();
}

Status Loader::seek(Position to) {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(check_position(to));
  start_at(to);
  return Status::ok();
}

Status Loader::begin_epoch() {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  return start_epoch();
}

Result<std::shared_ptr<EpochLoop>> Loader::begin_loop() {
  if (forked()) return forked_error();
  auto loop = std::make_shared<EpochLoop>();  // nothing fails once the loop before it has ended
  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(start_epoch());
  loop_ = loop;
  return loop;
}

Status Loader::start_epoch() {
  if (gate_.cancelled()) return {Code::kCancelled, ""};
  if (ended()) return {Code::kEnd, ""};
  end_loop(EpochLoop::State::kEnded);
  if (!fresh_ && position_.step == steps_.count()) {
    pass_epoch();
  } else if (!fresh_ && position_.step > 0) {
    jump({position_.epoch + 1, 0});
  }
  return ended() ? Status(Code::kEnd, "") : Status::ok();
}

Result<Position> Loader::position() const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  return position_;
}

Status Loader::set_indices(const int64_t* values, int64_t count, HostOwner owner) {
  if (forked()) return forked_error();
  if (!config_->order.indices.given) {
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
  DL_ASSIGN_OR_RETURN(OrderVersion version,
                      make_order_of(std::move(indices), pipeline_.source->count(), memory_));

  ThreadLock lock(mutex_);
  const int64_t from_epoch = version.from_epoch = position_.step == 0 ? position_.epoch : position_.epoch + 1;
  auto orders =
      std::make_shared<const OrderVersions>(book_.versions()->with(std::move(version), position_.epoch));
  if (loan != nullptr) loan->take(owner);  // nothing fails from here on
  book_.replace(std::move(orders));
  if (window_->set_orders(book_.versions(), from_epoch)) jump(position_);
  return Status::ok();
}

Result<std::string> Loader::save_state() {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  return state_->save({*pipeline_.source, book_.mix(), *book_.versions()}, position_, tuning_->state_text());
}

Status Loader::load_state(std::string_view text) {
  if (forked()) return forked_error();
  DL_ASSIGN_OR_RETURN(const SavedState saved, SavedState::parse(text));
  const Position to = saved.position();

  ThreadLock lock(mutex_);
  DL_ASSIGN_OR_RETURN(const JobState::Match match,
                      state_->match(saved, {*pipeline_.source, book_.mix(), *book_.versions()}));
  Status fits = check_position(to);
  if (!fits.is_ok()) return error(Code::kStateRefused, "state does not match this job: ", fits.message());
  book_.replace(std::make_shared<const OrderVersions>(book_.versions()->restored(*match.order, to.epoch)));
  window_->set_orders(book_.versions(), to.epoch);
  start_at(to);
  if (match.tuned != nullptr) tuning_->start_from(*match.tuned);
  return Status::ok();
}

void Loader::cancel() noexcept {
  if (!forked()) gate_.cancel();
}

void Loader::interrupt(EpochLoop* loop) noexcept {
  if (!forked()) gate_.interrupt(loop == nullptr ? gate_.interrupts() : loop->interrupts);
}

}  // namespace dataline
