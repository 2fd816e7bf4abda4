// Loader: a job's stream of batches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/batch.hpp>
#include <dataline/calls.hpp>
#include <dataline/dataset.hpp>
#include <dataline/duration.hpp>
#include <dataline/epoch.hpp>
#include <dataline/error.hpp>
#include <dataline/loan.hpp>
#include <dataline/metrics.hpp>
#include <dataline/options.hpp>
#include <dataline/plan.hpp>
#include <dataline/span.hpp>
#include <dataline/views.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// 0 <= step <= steps(). (e, steps): the end of epoch e has not been returned yet. (e + 1, 0): it has.
struct Position {
  int64_t epoch = 0;
  int64_t step = 0;
  friend bool operator==(const Position& a, const Position& b) noexcept {
    return a.epoch == b.epoch && a.step == b.step;
  }
  friend bool operator!=(const Position& a, const Position& b) noexcept { return !(a == b); }
};

// The delivered value is pixel * scale + offset.
struct PixelScale {
  double scale = 1;
  double offset = 0;
};

// Owns threads, slots and the position; keeps its own reference to the dataset. The destructor cancels and joins.
// Held batches stay valid. In a forked child calls return DL_ERR_FORKED.
class Loader : public detail::LoaderCalls<Loader> {
 public:
  Loader() noexcept = default;
  explicit Loader(dl_loader* taken) noexcept : loader_(taken) {}
  explicit operator bool() const noexcept { return loader_ != nullptr; }

  // Plans memory, starts the workers and starts to load. DL_ERR_BAD_OPTION, DL_ERR_BAD_TRANSFORM (column),
  // DL_ERR_OVER_BUDGET, ...: see dl_loader_create.
  explicit Loader(const Dataset& dataset, const Options& options = {})
      : Loader(try_create(dataset, options).value()) {}
  static Result<Loader> try_create(const Dataset& dataset, const Options& options = {}) {
    if (Result<void> given = options.give_environment(); !given) return given.error();
    return detail::make<Loader, dl_loader>([&](dl_loader** out, dl_error* error) {
      return dl_loader_create(dataset.get(), options.raw(), out, error);
    });
  }

  // Returns the next batch, in order. Without one, status() of the result is the reason: DL_END_OF_EPOCH (once per
  // epoch), DL_END (on every later call), DL_TIMEOUT (nothing is lost), DL_CANCELLED, DL_INTERRUPTED. Throws
  // errors: DL_ERR_BAD_SAMPLE (once per step; the next call delivers the good samples of that step),
  // DL_ERR_LEASES_HELD, ... Any thread; each call gets a different batch.
  //   if (auto batch = loader.next(std::chrono::milliseconds(5))) train_step(*batch);
  Result<Batch> next() { return detail::raised(try_next()); }
  // With a timeout; zero or less polls. With num_workers=0 the call itself loads, without regard to the timeout.
  template <typename Rep, typename Period>
  Result<Batch> next(std::chrono::duration<Rep, Period> timeout) {
    return detail::raised(try_next(timeout));
  }
  // The same, with errors in the result.
  Result<Batch> try_next() { return take(-1); }
  template <typename Rep, typename Period>
  Result<Batch> try_next(std::chrono::duration<Rep, Period> timeout) {
    return take(detail::nanoseconds(timeout));
  }

  // num_workers=0: loads on this thread for about `budget`, for example in a frame loop; at least one run of
  // samples. True: next() returns immediately.
  template <typename Rep, typename Period>
  Result<bool> try_work(std::chrono::duration<Rep, Period> budget) {
    Error error;
    const dl_status status = dl_loader_work(loader_.get(), detail::nanoseconds(budget), error.raw());
    if (status == DL_OK || status == DL_TIMEOUT) return status == DL_OK;
    return error.finish(status);
  }
  template <typename Rep, typename Period>
  bool work(std::chrono::duration<Rep, Period> budget) {
    return try_work(budget).value();
  }

  // `for (Batch batch : loader)` is one epoch. After a break, the next loop starts the next epoch at step 0. After
  // a seek or load_state, it continues at that position. After the last epoch, it is empty. Throws what next
  // throws, and an Error with code DL_CANCELLED or DL_INTERRUPTED, so that an epoch that ended early is not
  // mistaken for a complete one. A new loop in any thread, a seek or a load_state ends the current loop: its next
  // step throws DL_ERR_WRONG_STATE. To share an epoch, threads share an Epoch.
  BatchIterator begin() {
    detail::SharedEpoch loop;
    const Result<void> begun = begin_loop(&loop);
    if (begun.status() == DL_END) return BatchIterator();
    begun.value();
    return BatchIterator(std::move(loop), nullptr);
  }
  BatchIterator::End end() const noexcept { return {}; }
  // A loop that does not throw and that threads can share (epoch.hpp).
  Epoch epoch() {
    detail::SharedEpoch loop;
    Result<void> begun = begin_loop(&loop);
    return Epoch(std::move(loop), std::move(begun));
  }
  // The first step of a loop, for hosts that call next themselves. status(): DL_END after the last epoch.
  Result<void> try_begin_epoch() {
    return detail::result_of([&](dl_error* error) { return dl_loader_begin_epoch(loader_.get(), error); });
  }

  // Batches per epoch, the same on every rank; -1 if unknown.
  int64_t steps() const noexcept { return dl_loader_steps(loader_.get()); }
  // Counts batches that next has delivered, not those loaded ahead.
  Result<Position> try_position() const {
    Position at;
    const Result<void> done = detail::result_of(
        [&](dl_error* error) { return dl_loader_position(loader_.get(), &at.epoch, &at.step, error); });
    if (!done) return done.error();
    return at;
  }
  Position position() const { return try_position().value(); }
  // Clears a cancel and ends the current loop. Held batches stay valid. DL_ERR_OUT_OF_RANGE.
  Result<void> try_seek(Position to) {
    return detail::result_of(
        [&](dl_error* error) { return dl_loader_seek(loader_.get(), to.epoch, to.step, error); });
  }
  void seek(Position to) { try_seek(to).value(); }
  void seek(int64_t epoch, int64_t step) { seek(Position{epoch, step}); }

  // The position and the identity of the job, as text. Any language and the shell can resume from it.
  Result<std::string> try_save_state() const {
    return detail::text_of([&](char* room, size_t* bytes, dl_error* error) {
      return dl_loader_state_save(loader_.get(), room, bytes, error);
    });
  }
  std::string save_state() const { return try_save_state().value(); }
  // Seeks to a saved position. DL_ERR_BAD_STATE. DL_ERR_STATE_REFUSED: the state belongs to another dataset or
  // job; names both values.
  Result<void> try_load_state(const std::string& state) {
    return detail::result_of(
        [&](dl_error* error) { return dl_loader_state_load(loader_.get(), state.c_str(), error); });
  }
  void load_state(const std::string& state) { try_load_state(state).value(); }

  // Replaces the order, starting with the next epoch that has not begun. For loaders created with sample_indices.
  // Copied, or borrowed as by Options::borrow_indices.
  Result<void> try_set_indices(Span<const int64_t> indices) { return put_indices(indices, nullptr, nullptr); }
  void set_indices(Span<const int64_t> indices) { try_set_indices(indices).value(); }
  template <typename Release>
  Result<void> try_borrow_indices(Span<const int64_t> indices, Release&& release) {
    Result<void> done;
    static_cast<void>(
        detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
          done = put_indices(indices, give_back, context);
          return done.status();
        }));
    return done;
  }
  template <typename Release>
  void borrow_indices(Span<const int64_t> indices, Release&& release) {
    try_borrow_indices(indices, std::forward<Release>(release)).value();
  }

  // cancel ends every current and later wait with DL_CANCELLED, until a seek or load_state. interrupt ends every
  // current wait with DL_INTERRUPTED. If no thread waits, it ends the next call of next, work or a loop, unless a
  // seek or load_state comes first. Any thread; neither blocks.
  void cancel() noexcept { dl_loader_cancel(loader_.get()); }
  void interrupt() noexcept { dl_loader_interrupt(loader_.get()); }

  // Signalled while next would not wait. On Linux a descriptor to poll; on Windows a HANDLE to wait on. Never
  // read, reset or close it.
  Result<intptr_t> try_wait_handle() {
    intptr_t handle = -1;
    const Result<void> done = detail::result_of(
        [&](dl_error* error) { return dl_loader_wait_handle(loader_.get(), &handle, error); });
    if (!done) return done.error();
    return handle;
  }
  intptr_t wait_handle() { return try_wait_handle().value(); }

  // The schema of batches, after transforms; known before the first batch. Borrows from this loader.
  Views fields() const noexcept {
    int32_t count = 0;
    const dl_view* views = dl_loader_fields(loader_.get(), &count);
    return Views(views, count);
  }
  // How to recover the pixels of a field (index in fields()): the value delivered in a channel is pixel * scale +
  // offset, where pixel is the stored u8 or u16. DL_ERR_INVALID_ARGUMENT. DL_ERR_UNSUPPORTED: values do not map
  // back to pixels.
  Result<PixelScale> try_pixel_scale(int32_t field, int64_t channel = 0) const {
    PixelScale found;
    const Result<void> done = detail::result_of([&](dl_error* error) {
      return dl_loader_pixel_scale(loader_.get(), field, channel, &found.scale, &found.offset, error);
    });
    if (!done) return done.error();
    return found;
  }
  PixelScale pixel_scale(int32_t field, int64_t channel = 0) const {
    return try_pixel_scale(field, channel).value();
  }
  // The same for a field by its name; DL_ERR_NO_SUCH_FIELD.
  Result<PixelScale> try_pixel_scale(std::string_view field, int64_t channel = 0) const {
    const Views all = fields();
    const Result<View> there = all.try_view(field);
    if (!there) return there.error();
    int32_t place = 0;
    while (all[place].name() != field) ++place;
    return try_pixel_scale(place, channel);
  }
  PixelScale pixel_scale(std::string_view field, int64_t channel = 0) const {
    return try_pixel_scale(field, channel).value();
  }
  // Where each stage of a sample runs, and the bus traffic. Its strings borrow from this loader.
  Plan plan() const {
    Plan plan;
    const int32_t count = dl_loader_plan_count(loader_.get());
    for (int32_t i = 0; i < count; ++i) {
      dl_plan_stage stage = {};
      stage.struct_size = sizeof stage;
      if (dl_loader_plan_at(loader_.get(), i, &stage, nullptr) == DL_OK) plan.stages.push_back(stage);
    }
    return plan;
  }
  // The loader's measurements, as a table that outlives it. With stats=full also where the time goes.
  Result<Metrics> try_metrics() const {
    return detail::make<Metrics, dl_metrics>(
        [&](dl_metrics** out, dl_error* error) { return dl_loader_metrics(loader_.get(), out, error); });
  }
  Metrics metrics() const { return try_metrics().value(); }
  // Starts a trace: writes what each thread does, as JSON in Chrome's trace event format. The target is `path` (a
  // new or empty file, or an older trace, which is overwritten) or `write`. `write` is called from any thread, one
  // call at a time. It must not call Dataline. It returns 0 or an error number; an exception counts as EIO. It is
  // kept until the next trace or the
  // loader's end. DL_ERR_WRONG_STATE, DL_ERR_NOT_FOUND, ... Start and stop from one thread at a time.
  using TraceSink = std::function<int32_t(std::string_view text)>;
  Result<void> try_trace_start(const std::string& path) {
    return detail::result_of(
        [&](dl_error* error) { return dl_loader_trace_start(loader_.get(), path.c_str(), nullptr, error); });
  }
  Result<void> try_trace_start(TraceSink write) {
    auto kept = std::make_unique<TraceSink>(std::move(write));
    dl_trace_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.context = kept.get();
    sink.write = trace_to;
    const Result<void> done = detail::result_of(
        [&](dl_error* error) { return dl_loader_trace_start(loader_.get(), nullptr, &sink, error); });
    if (done) loader_.get_deleter().sink = std::move(kept);
    return done;
  }
  void trace_start(const std::string& path) { try_trace_start(path).value(); }
  void trace_start(TraceSink write) { try_trace_start(std::move(write)).value(); }
  // The destructor also stops the trace. DL_ERR_IO: the trace is incomplete.
  Result<void> try_trace_stop() {
    return detail::result_of([&](dl_error* error) { return dl_loader_trace_stop(loader_.get(), error); });
  }
  void trace_stop() { try_trace_stop().value(); }

  dl_loader* get() const noexcept { return loader_.get(); }

 private:
  static int32_t trace_to(void* context, const char* text, size_t bytes) {
    const auto& write = *static_cast<const TraceSink*>(context);
#if DATALINE_CPP_EXCEPTIONS
    try {
      return write({text, bytes});
    } catch (...) {
      return EIO;
    }
#else
    return write({text, bytes});
#endif
  }

  Result<Batch> take(int64_t timeout_ns) {
    return detail::make<Batch, dl_batch>([&](dl_batch** out, dl_error* error) {
      return dl_loader_next(loader_.get(), timeout_ns, out, error);
    });
  }
  Result<void> begin_loop(detail::SharedEpoch* loop) {
    return detail::result_of([&](dl_error* error) {
      dl_epoch* begun = nullptr;
      const dl_status status = dl_loader_epoch(loader_.get(), &begun, error);
      if (status == DL_OK) loop->reset(begun, dl_epoch_release);
      return status;
    });
  }
  Result<void> put_indices(Span<const int64_t> indices, void (*give_back)(void*), void* context) {
    return detail::result_of([&](dl_error* error) {
      return dl_loader_set_indices(loader_.get(), indices.data(), static_cast<int64_t>(indices.size()),
                                   give_back, context, error);
    });
  }

  // Destroys the trace's target after the loader, also when another loader is moved into this one.
  struct Destroyer {
    std::unique_ptr<TraceSink> sink;
    void operator()(dl_loader* loader) const noexcept { dl_loader_destroy(loader); }
  };
  std::unique_ptr<dl_loader, Destroyer> loader_;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
