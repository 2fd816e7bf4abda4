// `dataline verify`: reads every sample once, and names each that cannot be read.
//
// The loader reads with on_error=raise: a bad sample is an error of its step, which is then delivered without it. Nothing is
// replaced, so each sample is read once, good or bad. Files are compared with their checksums (checksums=files); the samples of one that
// differs are bad, and keep their indices (bad_files=keep).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/clock.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/job_line.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

// With any of these a sample could be left out, replaced, or read twice.
constexpr std::array<std::string_view, 15> kNotForVerify = {
    "on_error",    "max_bad",           "epochs",       "shuffle",    "weights",
    "replacement", "samples_per_epoch", "start_epoch",  "start_step", "last_batch",
    "drop_last",   "lengths",           "bucket_edges", "bucket_by",  "pack_length"};

class Verify {
 public:
  Verify(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        good_file_(request.flag("good_indices")),
        json_wanted_(request.has("json")),
        progress_(standard_output_is_terminal()),
        job_(request, interrupts, progress_),
        output_(interrupts) {
    for (const Setting& setting : request.options) {
      if (std::find(kNotForVerify.begin(), kNotForVerify.end(), setting.key) == kNotForVerify.end()) continue;
      throw usage_failure("verify reads every sample once: it does not accept " + flag_text(setting.key),
                          "verify");
    }
    if (job_.value("device") != "cpu")
      throw usage_failure(
          "verify reads into host memory: expected --device cpu, got '" + job_.value("device") + "'",
          "verify");
    if (good_file_ == "") throw usage_failure("--good-indices needs the name of a file", "verify");
  }

  int run() {
    if (good_file_) check_file_target(*good_file_);
    refuse_own_file(good_file_.value_or(""), request_.uri());
    open();
    JobLine line("verify", job_, loader_.get());
    tell_damage();
    json_.key("bad_samples").begin_array();
    const Clock::time_point begin = Clock::now();
    pump(line);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    progress_.clear();
    return finish(seconds);
  }

 private:
  void open() {
    if (request_.option("checksums").empty()) job_.set("checksums", "files");
    if (request_.option("bad_files").empty()) job_.set("bad_files", "keep");
    progress_.leave_losses_to_command();
    dataset_ = job_.open();
    for (const dl_view& field : Views(dataset_.get())) {
      const bool bytes = field.kind == DL_KIND_RAGGED && field.dtype == DL_DTYPE_U8;
      if (bytes && std::string_view(field.name) == "image" && request_.option("transform").empty())
        job_.set("transform", "image: decode");
    }
    job_.one_at_a_time_if_ragged(request_, dataset_.get());
    create();
    if (dl_loader_part_count(loader_.get()) > 0)
      throw Failure{.message = "a mix may never draw some samples of its parts: verify each part"};
  }

  // Limits protect a job from samples that it did not expect; here a sample is not bad because it is large. So the limits are the
  // highest whose plan the memory allows.
  void create() {
    constexpr const char* kKeys[] = {"max_pixels", "max_decoded_bytes"};
    constexpr std::array<const char*, 2> kLimits[] = {{"1000000000", "1GiB"}, {"1000000000", "256MiB"}};
    for (const auto& limits : kLimits) {
      for (size_t i = 0; i < limits.size(); ++i)
        if (request_.option(kKeys[i]).empty()) job_.set(kKeys[i], limits[i]);
      if (job_.create_within_budget(dataset_.get(), loader_)) return;
    }
    if (request_.option(kKeys[1]).empty()) job_.set(kKeys[1], "64MiB");
    loader_ = job_.create(dataset_.get());
  }

  void tell_damage() {
    const std::vector<std::string> lines = losses_of(dataset_.get());
    damaged_ = std::ssize(lines);
    json_.begin_object().key("damaged").begin_array();
    for (const std::string& line : lines) {
      json_.value(line);
      if (!json_wanted_) output_.append(message_text(line) + "\n");
    }
    json_.end_array();
    output_.flush();
  }

  void pump(JobLine& line) {
    for (int64_t batches = 0; !interrupts_.came() && output_.state() == Output::State::kOpen;) {
      const int64_t timeout_ns =
          progress_.live() ? std::chrono::nanoseconds(Progress::kInterval).count() : int64_t{-1};
      dl_batch* raw = nullptr;
      dl_error error = DL_ERROR_INIT;
      const dl_status status = dl_loader_next(loader_.get(), timeout_ns, &raw, &error);
      const Batch batch(raw);
      if (status == DL_OK) {
        note_good(batch.get());
        ++batches;
      } else if (status == DL_ERR_BAD_SAMPLE) {
        tell_new_bad();
      } else if (status == DL_END_OF_EPOCH || status == DL_END) {
        return;
      } else if (status != DL_TIMEOUT) {
        progress_.clear();
        output_.flush();  // what came before the error
        job_.check(status, error);
        return;
      }
      if (progress_.due()) progress_.show(line.after(batches, kNoLimit, stats().bytes));
    }
  }

  dl_stats stats() const {
    auto stats = sized<dl_stats>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_stats(loader_.get(), &stats, &error), error);
    return stats;
  }

  void note_good(const dl_batch* batch) {
    auto info = sized<dl_batch_info>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_batch_get_info(batch, &info, &error), error);
    good_ += info.samples;
    if (!good_file_) return;
    for (int64_t i = 0; i < info.samples; ++i) indices_ += std::to_string(info.sample_indices[i]) + "\n";
  }

  void tell_new_bad() {
    for (const int64_t found = dl_loader_bad_sample_count(loader_.get()); bad_ < found; ++bad_) {
      auto bad = sized<dl_bad_sample>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_loader_bad_sample_at(loader_.get(), bad_, &bad, &error), error);
      if (json_wanted_) {
        json_.begin_object().key("index").value(bad.index).key("code").value(dl_status_name(bad.code));
        json_.key("message").value(bad.message).end_object();
        continue;
      }
      if (bad.message == run_.message && bad.index == run_.last + 1) {
        ++run_.last;
        continue;
      }
      tell_run();
      run_ = {bad.message, bad.index, bad.index};
    }
  }

  // Neighbouring samples that are bad for the same cause: those of a damaged file.
  void tell_run() {
    if (run_.message.empty()) return;
    progress_.clear();
    const bool one = run_.first == run_.last;
    output_.append((one ? "sample " : "samples ") + std::to_string(run_.first) +
                   (one ? "" : " to " + std::to_string(run_.last)) + ": " + message_text(run_.message) +
                   "\n");
    output_.flush();
    run_ = {};
  }

  // Status 1 says that something is bad, after all of it was told.
  int finish(double seconds) {
    tell_run();
    const int64_t read = good_ + bad_, bytes = stats().bytes;
    if (json_wanted_) {
      json_.end_array().key("uri").value(request_.uri()).key("samples").value(read);
      json_.key("bad").value(bad_).key("bytes").value(bytes).key("seconds").value(seconds).end_object();
      output_.append(json_.text() + "\n");
    } else if (!interrupts_.came()) {
      output_.append(grouped(read) + (read == 1 ? " sample, " : " samples, ") +
                     bytes_text(static_cast<double>(bytes)) + " read, " +
                     (bad_ == 0 ? "none" : grouped(bad_)) + " bad" +
                     (damaged_ == 0 ? "" : ", the set is damaged") + "\n");
    }
    output_.flush();
    if (output_.state() == Output::State::kFailed) throw system_failure("standard output", output_.error());
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
    if (good_file_) write_file(*good_file_, indices_, "the good indices were not saved");
    if (bad_ == 0 && damaged_ == 0) return 0;
    if (bad_ == 0) throw Failure{.message = "the set is damaged", .code = "DL_ERR_CORRUPT"};
    throw Failure{.message = grouped(bad_) + " of " + grouped(read) +
                             (bad_ == 1 ? " samples is bad" : " samples are bad"),
                  .code = "DL_ERR_BAD_SAMPLE"};
  }

  const Request& request_;
  const Interrupts& interrupts_;
  const std::optional<std::string> good_file_;  // --good-indices
  const bool json_wanted_;
  Progress progress_;
  Job job_;
  Output output_;
  Json json_;
  Dataset dataset_;
  Loader loader_;
  int64_t good_ = 0, bad_ = 0, damaged_ = 0;
  struct BadRun {
    std::string message;  // empty: none
    int64_t first = 0, last = 0;
  };
  BadRun run_;           // not told yet
  std::string indices_;  // of good samples, one a line
};

}  // namespace

int run_verify(const Request& request, const Interrupts& interrupts) {
  return Verify(request, interrupts).run();
}

}  // namespace dataline::cli
