// `dataline cat`: runs the loader and writes what it delivers.
//
// The saved state is the position after the last batch that was written whole, however the run ended: done,
// a bad sample, a signal, a closed pipe, a full disk.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <string_view>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/output.h"
#include "bindings/cli/pack.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

class Cat {
 public:
  Cat(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        progress_(standard_output_is_terminal()),
        job_(request, interrupts, progress_),
        output_(interrupts),
        batches_left_(request.count("batches", 0).value_or(INT64_MAX)),
        indices_(request.has("indices")) {}

  int run() {
    if (!indices_) check_device();
    const auto load = request_.flag("load_state");
    const auto save = request_.flag("save_state");
    const std::string state = load ? read_state_file(*load) : "";
    if (save) check_file_target(*save);
    dataset_ = job_.open();
    loader_ = job_.create(dataset_.get());
    if (!indices_ || request_.flag("field")) field_ = choose_field(request_, loader_.get());
    dl_error error = DL_ERROR_INIT;
    if (load) job_.check(dl_loader_state_load(loader_.get(), state.c_str(), &error), error);

    const dl_status status = pump(&error);
    output_.flush();
    progress_.clear();
    tell_bad_samples();
    if (save) try_save(*save, status);
    return finish(status, error);
  }

 private:
  // Until the job, --batches or the output ends. Returns the status that ended it.
  dl_status pump(dl_error* error) {
    while (batches_left_ > 0 && output_.state() == Output::State::kOpen && !interrupts_.came()) {
      // What is ready to be read downstream goes out before a wait.
      dl_batch* raw = nullptr;
      const dl_status status = dl_loader_next(loader_.get(), output_.has_pending() ? 0 : -1, &raw, error);
      const Batch batch(raw);
      if (status == DL_TIMEOUT) {
        output_.flush();
      } else if (status == DL_OK) {
        const dl_status written = write(batch.get(), error);
        if (written != DL_OK) return written;
        --batches_left_;
        if (progress_.due()) show_progress();
      } else if (status != DL_END_OF_EPOCH) {
        return status;
      }
    }
    return DL_OK;
  }

  // Bytes are written from host memory. Found out before anything is opened: it is the command line that is wrong.
  void check_device() {
    const char* device = "";
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_options_get(job_.options(), "device", &device, &error), error);
    if (std::string_view(device) == "cpu") return;
    throw usage_failure("cat writes from host memory: its --device is cpu, got '" + std::string(device) +
                            "' (bench, and info --plan, take a device)",
                        "cat");
  }

  dl_status write(const dl_batch* batch, dl_error* error) {
    auto info = sized<dl_batch_info>();
    if (const dl_status status = dl_batch_get_info(batch, &info, error); status != DL_OK) return status;
    if (indices_) {
      for (int64_t i = 0; i < info.samples; ++i) {
        char line[24];
        char* end = std::to_chars(line, line + sizeof(line) - 1, info.sample_indices[i]).ptr;
        *end++ = '\n';
        output_.append(line, static_cast<size_t>(end - line));
      }
    } else {
      int32_t count = 0;
      append_packed(dl_batch_views(batch, &count)[field_], output_);
    }
    output_.end_batch({info.epoch, info.step});
    samples_ += info.samples;
    step_ = {info.epoch, info.step};
    return DL_OK;
  }

  void show_progress() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const int64_t steps = dl_loader_steps(loader_.get());
    progress_.show("cat: epoch " + std::to_string(step_.epoch) + ", step " + grouped(step_.step + 1) +
                   (steps > 0 ? " of " + grouped(steps) : "") + ", " + scaled(static_cast<double>(samples_)) +
                   " samples, " + bytes_text(static_cast<double>(output_.bytes())) + ", " +
                   bytes_text(static_cast<double>(output_.bytes()) / seconds) + "/s");
  }

  void save_state(const std::string& path) {
    dl_error error = DL_ERROR_INIT;
    if (const auto position = output_.first_unwritten()) {
      job_.check(dl_loader_seek(loader_.get(), position->epoch, position->step, &error), error);
    }
    char text[DL_STATE_MAX_BYTES];
    size_t bytes = sizeof(text);
    job_.check(dl_loader_state_save(loader_.get(), text, &bytes, &error), error);
    if (!output_.sync()) throw system_failure("standard output: the state was not saved", output_.error());
    write_file(path, text, "the state was not saved");
  }

  // A save that fails is the run's failure, or, after another, one line more.
  void try_save(const std::string& path, dl_status status) {
    try {
      save_state(path);
    } catch (const Failure& failure) {
      if (status >= 0 && output_.state() != Output::State::kFailed) throw;
      progress_.say(failure.message);
    }
  }

  void tell_bad_samples() {
    constexpr int64_t kTold = 3;
    const int64_t count = dl_loader_bad_sample_count(loader_.get());
    const auto policy = request_.option("on_error");
    if (count <= 0 || policy.empty() || policy == "raise") return;
    std::string line = grouped(count) + (count == 1 ? " bad sample" : " bad samples");
    for (int64_t i = 0; i < count && i < kTold; ++i) {
      auto bad = sized<dl_bad_sample>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_loader_bad_sample_at(loader_.get(), i, &bad, &error), error);
      line += (i == 0 ? ": sample " : "; sample ") + std::to_string(bad.index) +
              (bad.replacement < 0 ? " left out" : " replaced by " + std::to_string(bad.replacement)) + " (" +
              bad.message + ")";
    }
    progress_.say(line + (count > kTold ? "; and " + grouped(count - kTold) + " more" : ""));
  }

  int finish(dl_status status, const dl_error& error) {
    switch (output_.state()) {
      case Output::State::kClosed:
        return 0;
      case Output::State::kFailed:
        throw system_failure("standard output", output_.error());
      default:
        break;
    }
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
    job_.check(status, error);
    return 0;
  }

  const Request& request_;
  const Interrupts& interrupts_;
  Progress progress_;
  Job job_;
  Output output_;
  int64_t batches_left_;
  const bool indices_;
  Dataset dataset_;
  Loader loader_;
  int32_t field_ = 0;
  int64_t samples_ = 0;
  Output::Position step_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int run_cat(const Request& request, const Interrupts& interrupts) { return Cat(request, interrupts).run(); }

}  // namespace dataline::cli
