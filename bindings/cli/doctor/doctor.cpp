// `dataline doctor`: runs the loader as asked and with one thing changed at a time, and says what to change.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/commands.h"
#include "bindings/cli/doctor/attach.h"
#include "bindings/cli/doctor/bare_reads.h"
#include "bindings/cli/doctor/experiments.h"
#include "bindings/cli/doctor/judge.h"
#include "bindings/cli/doctor/machine.h"
#include "bindings/cli/doctor/operators.h"
#include "bindings/cli/doctor/report.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/output.h"
#include "bindings/cli/report/trace_file.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kDoctorSeconds = 10;
constexpr double kStorageSeconds = 0.3;
constexpr int64_t kImagesLookedAt = 15;
constexpr int kMostConfirmed = 4, kMostChecks = 3;
constexpr double kAsPromised = 0.1;

class Doctor {
 public:
  Doctor(const Request& request, const Interrupts& interrupts, ConsumerPlan consumer)
      : request_(request), interrupts_(interrupts), consumer_(consumer) {}

  int run() {
    Verdict verdict;
    std::optional<double> gain;
    try {
      examine();
      verdict = checked_verdict(gain);
    } catch (const Failure& failure) {
      if (failure.code != "DL_ERR_OVER_BUDGET") throw;
      findings_.over_budget = failure.message;
      verdict = judge(findings_);
    }
    progress_.clear();
    print(
        request_.has("json") ? doctor_json(findings_, verdict, gain) : doctor_text(findings_, verdict, gain),
        interrupts_);
    return 0;
  }

 private:
  void examine() {
    base_.emplace(request_, interrupts_, progress_);
    experiments_.emplace(*base_, consumer_);
    const Run first = experiments_->first();
    look_at_options();
    for (const std::string& warning : progress_.warnings()) {
      if (warning.find("page-locked") != std::string::npos) findings_.pin_warning = warning;
    }
    findings_.machine = look_at_machine();
    look_at_images();
    experiments_->run_all(first, request_.seconds("seconds").value_or(kDoctorSeconds), findings_);
    look_at_storage();
  }

  // What is advised is measured once more beside what was asked for, in pairs, and promised by these. Where it falls behind another
  // trial then, that one is too.
  Verdict confirmed_verdict() {
    Verdict verdict = judge(findings_);
    for (int i = 0; i < kMostConfirmed && verdict.change; ++i) {
      Trial* trial = trial_of(*verdict.change);
      if (trial == nullptr || trial->confirmed) break;
      confirm(*trial, experiments_->pairs_of(*verdict.change, "measuring again"));
      verdict = judge(findings_);
    }
    return verdict;
  }

  // The verdict, and the gain of its change in pairs of their own. Where that is not what was promised, all pairs until then are the
  // promise, and it is checked anew. A gain that is another each time is not promised.
  Verdict checked_verdict(std::optional<double>& gain) {
    Verdict verdict = confirmed_verdict();
    for (int i = 0; i < kMostChecks && verdict.change; ++i) {
      const std::vector<double> pairs = experiments_->pairs_of(*verdict.change, "checking");
      gain = gain_of_pairs(pairs).middle;
      Trial* trial = trial_of(*verdict.change);
      if (trial == nullptr || std::abs(verdict.predicted_gain / *gain - 1) <= kAsPromised) return verdict;
      confirm(*trial, pairs);
      trial->varies |= i + 1 == kMostChecks;
      verdict = confirmed_verdict();
    }
    gain.reset();  // of a change that is not advised any more
    if (verdict.change) gain = gain_of_pairs(experiments_->pairs_of(*verdict.change, "checking")).middle;
    return verdict;
  }

  Trial* trial_of(const Change& change) {
    const auto found = std::find_if(findings_.trials.begin(), findings_.trials.end(), [&](const Trial& each) {
      return each.option == change.option && each.value == change.value;
    });
    return found == findings_.trials.end() ? nullptr : &*found;
  }

  void confirm(Trial& trial, const std::vector<double>& pairs) {
    std::vector<double>& all = pairs_[trial.option + "=" + trial.value];
    all.insert(all.end(), pairs.begin(), pairs.end());
    const MeasuredGain gain = gain_of_pairs(all);
    trial.confirmed = gain.middle;
    trial.varies = gain.varies;
    trial.least = gain.least, trial.most = gain.most;
  }

  void look_at_options() {
    findings_.asked_to_pin = value_of(base_->job, "pin_memory") == "true";
    findings_.max_leases = std::atoll(value_of(base_->job, "max_leases").c_str());
    findings_.consumer_holds = consumer_.holds;
    findings_.consumer_burns = consumer_.burns_cpu;
  }

  static std::string value_of(const Job& job, const char* key) {
    const char* text = "";
    dl_error error = DL_ERROR_INIT;
    job.check(dl_options_get(job.options(), key, &text, &error), error);
    return text;
  }

  // The sizes of some images, and the side that the loader delivers.
  void look_at_images() {
    const dl_dataset* dataset = base_->dataset.get();
    const int64_t count = dl_dataset_count(dataset);
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int64_t i = 0; i < std::min(count, kImagesLookedAt); ++i) {
      auto info = sized<dl_image_info>();
      dl_error error = DL_ERROR_INIT;
      if (dl_dataset_image_info(dataset, nullptr, i * count / std::min(count, kImagesLookedAt), &info,
                                &error) == DL_OK)
        sizes.emplace_back(info.width, info.height);
    }
    if (sizes.empty()) return;
    std::sort(sizes.begin(), sizes.end());
    const auto [width, height] = sizes[sizes.size() / 2];
    findings_.images = ImageSize{width, height, delivered_side(request_.option("transform"))};
  }

  // Storage alone, in pieces as large as what the loader reads for a sample.
  void look_at_storage() {
    const Run& run = findings_.asked;
    if (run.read_bytes_per_s <= 0 || run.samples_per_s <= 0) return;
    progress_.show("doctor: storage alone");
    findings_.storage =
        bare_reads(files_of_uri(dl_dataset_uri(base_->dataset.get())), base_->job.options(),
                   static_cast<int64_t>(run.read_bytes_per_s / run.samples_per_s), kStorageSeconds);
  }

  const Request& request_;
  const Interrupts& interrupts_;
  Progress progress_;
  const ConsumerPlan consumer_;
  Findings findings_;
  std::map<std::string, std::vector<double>> pairs_;  // of a trial, all until now
  std::optional<RunBase> base_;
  std::optional<Experiments> experiments_;
};

// The verdict from a trace alone.
int tell_trace(const Request& request, const TraceFigures& figures, const Interrupts& interrupts) {
  if (!request.options.empty())
    throw usage_failure("--attach without a URI runs no loader: expected no options of a loader, got " +
                            flag_text(request.options[0].key),
                        "doctor");
  const double cpus = look_at_machine().cpus;
  const Verdict verdict = judge_trace(figures, cpus);
  print(request.has("json") ? trace_json(figures, verdict, cpus) : trace_text(figures, verdict), interrupts);
  return 0;
}

TraceFigures attached(const std::string& path, const Interrupts& interrupts) {
  const auto timeline = read_trace_file(path, interrupts);
  if (!timeline && kind_of(path) == PathKind::kAbsent) throw system_failure(path, ENOENT);
  TraceFigures figures = timeline ? trace_figures(*timeline) : TraceFigures{};
  if (figures.steps == 0)
    throw Failure{.message = path + (timeline ? ": the trace has no step of a consumer"
                                              : ": expected a trace that trace=FILE wrote")};
  return figures;
}

ConsumerPlan consumer_of(const Request& request) {
  const auto ms = request.seconds("consumer_ms");
  if (request.has("consumer_cpu") && !ms && !request.flag("attach"))
    throw usage_failure("--consumer-cpu needs --consumer-ms", "doctor");
  return {ms.value_or(0) * 1e-3, request.has("consumer_cpu"), request.count("consumer_holds", 1).value_or(1)};
}

}  // namespace

int run_doctor(const Request& request, const Interrupts& interrupts) {
  const auto trace = request.flag("attach");
  if (request.positionals.empty() && !trace)
    throw usage_failure("doctor needs a URI, or --attach TRACE", "doctor");
  ConsumerPlan consumer = consumer_of(request);
  if (trace) {
    if (consumer.seconds > 0)
      throw usage_failure("--attach reads the consumer's time from the trace: expected no --consumer-ms",
                          "doctor");
    const TraceFigures figures = attached(*trace, interrupts);
    if (request.positionals.empty()) return tell_trace(request, figures, interrupts);
    consumer.seconds = figures.step_ms * 1e-3;
  }
  return Doctor(request, interrupts, consumer).run();
}

}  // namespace dataline::cli
