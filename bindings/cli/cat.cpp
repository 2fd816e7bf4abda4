// `dataline cat`: runs the loader and writes what it delivers.
//
// The saved state is the position after the last batch that was written completely, however the run ended: at the end of the
// job, or by a bad sample, a signal, a closed pipe or a full disk.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/job_line.h"
#include "bindings/cli/output.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/pack.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

class Cat {
 public:
  Cat(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        target_(request.flag("output")),
        progress_(standard_output_is_terminal() && (!target_ || *target_ == "-")),
        job_(request, interrupts, progress_),
        output_(interrupts),
        batches_wanted_(request.count("batches", 0).value_or(kNoLimit)),
        indices_(request.has("indices")) {}

  int run() {
    if (!indices_) check_device();
    check_target();
    check_start();
    const auto load = request_.flag("load_state");
    const auto save = request_.flag("save_state");
    const std::string state = load ? read_state_file(*load, interrupts_) : "";
    if (save) check_file_target(*save);
    refuse_own_file(save.value_or(""), request_.uri());
    refuse_own_file(target_.value_or(""), request_.uri());
    dataset_ = job_.open();
    loader_ = job_.create(dataset_.get());
    line_.emplace("cat", job_, loader_.get());
    mixed_ = dl_loader_part_count(loader_.get()) > 0;
    if (!indices_ || request_.flag("field")) field_ = choose_field(request_, loader_.get());
    dl_error error = DL_ERROR_INIT;
    if (load) load_state(*load, state);
    if (target_ && *target_ != "-") write_standard_output_to(*target_, interrupts_);

    const dl_status status = pump(&error);
    output_.flush();
    progress_.clear();
    tell_warnings();
    tell_bad_samples(status);
    if (save) try_save(*save, status);
    return finish(status, error);
  }

 private:
  // With buffered output: do not wait for the loader before it is flushed. With a live line: only so long that the line stays
  // true while the loader is what is slow.
  int64_t next_timeout() const {
    if (output_.has_pending()) return 0;
    return progress_.live() ? std::chrono::nanoseconds(Progress::kInterval).count() : -1;
  }

  // Writes batches until the job, --batches or the output ends. Returns the status that ended it.
  dl_status pump(dl_error* error) {
    while (batches_done_ < batches_wanted_ && output_.state() == Output::State::kOpen &&
           !interrupts_.came()) {
      dl_batch* raw = nullptr;
      const dl_status status = dl_loader_next(loader_.get(), next_timeout(), &raw, error);
      const Batch batch(raw);
      if (status == DL_TIMEOUT) {
        output_.flush();
        if (progress_.due()) show_progress();
      } else if (status == DL_OK) {
        const dl_status written = write(batch.get(), error);
        if (written != DL_OK) return written;
        ++batches_done_;
        if (progress_.due()) show_progress();
      } else if (status != DL_END_OF_EPOCH) {
        return status;
      }
    }
    return DL_OK;
  }

  void load_state(const std::string& path, const std::string& state) {
    dl_error error = DL_ERROR_INIT;
    try {
      job_.check(dl_loader_state_load(loader_.get(), state.c_str(), &error), error);
    } catch (Failure& failure) {
      failure.message.insert(0, path + ": ");
      throw;
    }
  }

  void check_target() const {
    if (target_ && target_->empty()) throw usage_failure("--output needs the name of a file, or -", "cat");
    for (const char* flag : {"save_state", "load_state"}) {
      if (request_.flag(flag) != "") continue;
      throw usage_failure(flag_text(flag) + " needs the name of a file", "cat");
    }
    if (target_ || indices_ || !standard_output_is_terminal()) return;
    throw usage_failure(
        "cat does not write raw bytes to a terminal: redirect it (> FILE, | xxd), or see --indices; "
        "`--output -` writes them anyway",
        "cat");
  }

  // Both a state and --start_step say where to start.
  void check_start() const {
    if (!request_.flag("load_state")) return;
    for (const char* key : {"start_epoch", "start_step"}) {
      const std::string value = request_.option(key);
      if (value.empty()) continue;
      throw usage_failure("--load-state and " + flag_text(key) + " " + value +
                              " contradict each other: the state has the position",
                          "cat");
    }
  }

  // Whether the bad sample's step was delivered. A bad sample in the step that ended the run is the error that is reported.
  bool delivered(const dl_bad_sample& bad) const {
    int64_t epoch = 0, step = 0;
    dl_error error = DL_ERROR_INIT;
    if (dl_loader_position(loader_.get(), &epoch, &step, &error) != DL_OK) return false;
    return bad.epoch < epoch || (bad.epoch == epoch && bad.step < step);
  }

  // cat writes from host memory. Checked before anything is opened, as an error of the command line.
  void check_device() {
    const std::string device = job_.value("device");
    if (device == "cpu") return;
    throw usage_failure("cat writes from host memory: expected --device cpu, got '" + device +
                            "' (bench and info --plan accept a device)",
                        "cat");
  }

  dl_status write(const dl_batch* batch, dl_error* error) {
    auto info = sized<dl_batch_info>();
    if (const dl_status status = dl_batch_get_info(batch, &info, error); status != DL_OK) return status;
    if (indices_) {
      for (int64_t i = 0; i < info.samples; ++i) {
        char line[48];
        char* end = line;
        if (mixed_) {  // the part, and the sample in it
          end = std::to_chars(end, line + sizeof(line) - 1, info.sample_sources[i]).ptr;
          *end++ = ' ';
        }
        end = std::to_chars(end, line + sizeof(line) - 1, info.sample_indices[i]).ptr;
        *end++ = '\n';
        output_.append(line, static_cast<size_t>(end - line));
      }
    } else {
      append_packed(Views(batch)[field_], output_);
    }
    output_.end_batch({info.epoch, info.step});
    return DL_OK;
  }

  void show_progress() { progress_.show(line_->after(batches_done_, batches_wanted_, output_.bytes())); }

  void save_state(const std::string& path) {
    dl_error error = DL_ERROR_INIT;
    if (const auto position = output_.first_unwritten()) {
      job_.check(dl_loader_seek(loader_.get(), position->epoch, position->step, &error), error);
    }
    size_t bytes = 0;
    job_.check(dl_loader_state_save(loader_.get(), nullptr, &bytes, &error), error);
    std::string text(bytes, '\0');
    job_.check(dl_loader_state_save(loader_.get(), text.data(), &bytes, &error), error);
    text.resize(bytes - 1);
    if (!output_.sync()) throw system_failure(output_name() + ": the state was not saved", output_.error());
    write_file(path, text, "the state was not saved");
  }

  // If the save fails, the run fails with its message; if the run has failed already, the message is one more line.
  void try_save(const std::string& path, dl_status status) {
    try {
      save_state(path);
    } catch (const Failure& failure) {
      if (status >= 0 && output_.state() != Output::State::kFailed) throw;
      progress_.say(failure.message);
    }
  }

  void tell_warnings() {
    auto stats = sized<dl_stats>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_stats(loader_.get(), &stats, &error), error);
    if (stats.warned > 0) progress_.say(warned_text(stats.warned));
  }

  void tell_bad_samples(dl_status ended) {
    constexpr int64_t kTold = 3;
    const auto policy = request_.option("on_error");
    if (policy.empty() || policy == "raise") return;
    int64_t count = 0;
    std::string told;
    for (int64_t i = 0; i < dl_loader_bad_sample_count(loader_.get()); ++i) {
      auto bad = sized<dl_bad_sample>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_loader_bad_sample_at(loader_.get(), i, &bad, &error), error);
      const bool out = delivered(bad);
      if (!out && bad.replacement < 0 && ended == DL_ERR_BAD_SAMPLE) continue;  // reported as the error
      if (count++ >= kTold) continue;
      told += (count == 1 ? ": sample " : "; sample ") + std::to_string(bad.index) +
              (out && bad.replacement >= 0 ? " replaced by " + std::to_string(bad.replacement) : "") + " (" +
              bad.message + ")";
    }
    if (count == 0) return;
    progress_.say(grouped(count) + (count == 1 ? " bad sample" : " bad samples") + told +
                  (count > kTold ? "; and " + grouped(count - kTold) + " more" : ""));
  }

  std::string output_name() const { return target_ && *target_ != "-" ? *target_ : "standard output"; }

  int finish(dl_status status, const dl_error& error) {
    switch (output_.state()) {
      case Output::State::kClosed:
        return 0;
      case Output::State::kFailed:
        throw system_failure(output_name(), output_.error());
      default:
        break;
    }
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
    try {
      job_.check(status, error);
    } catch (Failure& failure) {
      dl_error unknown = DL_ERROR_INIT;
      int64_t epoch = 0, step = 0;
      if (dl_loader_position(loader_.get(), &epoch, &step, &unknown) == DL_OK)
        failure.epoch = epoch, failure.step = step;
      throw;
    }
    return 0;
  }

  const Request& request_;
  const Interrupts& interrupts_;
  const std::optional<std::string> target_;  // --output
  Progress progress_;
  Job job_;
  Output output_;
  const int64_t batches_wanted_;  // kNoLimit: all
  const bool indices_;
  bool mixed_ = false;  // a dataset of several parts
  Dataset dataset_;
  Loader loader_;
  int32_t field_ = 0;
  int64_t batches_done_ = 0;
  std::optional<JobLine> line_;
};

}  // namespace

int run_cat(const Request& request, const Interrupts& interrupts) { return Cat(request, interrupts).run(); }

}  // namespace dataline::cli
