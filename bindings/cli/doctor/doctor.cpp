// `dataline doctor`: runs the loader as asked and with one thing changed at a time, and says what to change.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "bindings/cli/commands.h"
#include "bindings/cli/doctor/judge.h"
#include "bindings/cli/doctor/machine.h"
#include "bindings/cli/doctor/operators.h"
#include "bindings/cli/doctor/report.h"
#include "bindings/cli/doctor/runs.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/output.h"

namespace dataline::cli {
namespace {

constexpr double kDoctorSeconds = 10;
constexpr int kDoctorRounds = 3;
constexpr double kLeastSeconds = 0.1;  // a run
constexpr int64_t kImagesLookedAt = 15;

class Doctor {
 public:
  Doctor(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        seconds_(request.seconds("seconds").value_or(kDoctorSeconds)) {
    const auto ms = request.seconds("consumer_ms");
    consumer_ = {ms.value_or(0) * 1e-3, request.has("consumer_cpu"),
                 request.count("consumer_holds", 1).value_or(1)};
    if (consumer_.burns_cpu && !ms)
      throw usage_failure("--consumer-cpu says how --consumer-ms is spent: give both", "doctor");
  }

  int run() {
    Verdict verdict;
    std::optional<double> gain;
    try {
      examine();
      verdict = judge(findings_);
      gain = check(verdict);
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
  using Store = std::function<void(const Run&)>;
  struct Experiment {
    RunPlan plan;
    Store store;
    bool optional = true;  // left out where its options do not fit the set
    std::vector<Run> rounds{};
  };

  void examine() {
    // The values in force, from a first short run; what is wrong with the command line ends the command here.
    const Run first = run_once(request_, interrupts_, progress_, {"as asked", {}, consumer_}, kLeastSeconds);
    look_at_options();
    for (const std::string& warning : progress_.warnings()) {
      if (warning.find("page-locked") != std::string::npos) findings_.pin_warning = warning;
    }
    findings_.machine = look_at_machine();
    look_at_images();
    plan(first);
    const double seconds =
        std::max(kLeastSeconds, seconds_ / (kDoctorRounds * 1.4 * static_cast<double>(experiments_.size())));
    // Rounds of all, not all rounds of one: a machine that others use changes while it is measured.
    for (int round = 0; round < kDoctorRounds; ++round) {
      for (Experiment& experiment : experiments_) {
        progress_.show("doctor: round " + std::to_string(round + 1) + " of " + std::to_string(kDoctorRounds) +
                       ", " + experiment.plan.name);
        try {
          experiment.rounds.push_back(run_once(request_, interrupts_, progress_, experiment.plan, seconds));
        } catch (const Failure&) {
          if (!experiment.optional) throw;
        }
      }
    }
    for (const Experiment& experiment : experiments_)
      if (!experiment.rounds.empty()) experiment.store(median_run(experiment.rounds));
    check_seconds_ = 2 * seconds;
  }

  void look_at_options() {
    const Job job(request_, interrupts_, progress_);
    findings_.asked_to_pin = value_of(job, "pin_memory") == "true";
    findings_.max_leases = std::atoll(value_of(job, "max_leases").c_str());
    findings_.consumer_holds = consumer_.holds;
  }

  static std::string value_of(const Job& job, const char* key) {
    const char* text = "";
    dl_error error = DL_ERROR_INIT;
    job.check(dl_options_get(job.options(), key, &text, &error), error);
    return text;
  }

  // The sizes of some images, and the side that the loader delivers.
  void look_at_images() {
    Job job(request_, interrupts_, progress_);
    const Dataset dataset = job.open();
    const int64_t count = dl_dataset_count(dataset.get());
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int64_t i = 0; i < std::min(count, kImagesLookedAt); ++i) {
      auto info = sized<dl_image_info>();
      dl_error error = DL_ERROR_INIT;
      if (dl_dataset_image_info(dataset.get(), nullptr, i * count / std::min(count, kImagesLookedAt), &info,
                                &error) == DL_OK)
        sizes.emplace_back(info.width, info.height);
    }
    if (sizes.empty()) return;
    std::sort(sizes.begin(), sizes.end());
    const auto [width, height] = sizes[sizes.size() / 2];
    findings_.images = ImageSize{width, height, delivered_side(request_.option("transform"))};
  }

  void add(RunPlan plan, Store store) { experiments_.push_back({std::move(plan), std::move(store)}); }

  void plan(const Run& first) {
    add({"as asked", {}, consumer_}, [this](const Run& run) { findings_.asked = run; });
    experiments_.back().optional = false;
    if (consumer_.seconds > 0) add({"no consumer"}, [this](const Run& run) { findings_.no_consumer = run; });
    add({.name = "samples in memory", .same_samples = true},
        [this](const Run& run) { findings_.in_memory = run; });
    const std::string transform = request_.option("transform");
    if (!transform.empty())
      add({"no transform", {{"transform", ""}}}, [this](const Run& run) { findings_.no_transform = run; });
    for (const OperatorPrefix& prefix : prefixes_of(transform))
      add({"up to " + prefix.last, {{"transform", prefix.text}}}, [this, last = prefix.last](const Run& run) {
        findings_.prefixes.push_back({last, run});
      });
    // From what needs least to what needs most: of trials about as fast the first is advised.
    const auto cpus = std::max<int64_t>(1, static_cast<int64_t>(findings_.machine.cpus + 0.5));
    for (const int64_t workers : std::set<int64_t>{0, 1, 2, cpus - 1, cpus, 2 * cpus, 4 * cpus})
      if (workers != first.num_workers)
        add_trial("num_workers", std::to_string(workers), std::to_string(first.num_workers));
    add_trial("prefetch_depth", std::to_string(std::max<int64_t>(4, 2 * first.prefetch_depth)),
              std::to_string(first.prefetch_depth));
    if (consumer_.holds > findings_.max_leases)
      add_trial("max_leases", std::to_string(consumer_.holds), std::to_string(findings_.max_leases));
  }

  void add_trial(const std::string& option, const std::string& value, const std::string& now) {
    add({option + "=" + value, {{option, value}}, consumer_}, [this, option, value, now](const Run& run) {
      findings_.trials.push_back({option, value, now, run});
    });
  }

  // The change beside what was asked for, in turns.
  std::optional<double> check(const Verdict& verdict) {
    if (!verdict.change) return std::nullopt;
    progress_.show("doctor: checking " + verdict.change->option + "=" + verdict.change->value);
    std::vector<Run> before, after;
    const RunPlan changed{"checked", {{verdict.change->option, verdict.change->value}}, consumer_};
    for (int round = 0; round < kDoctorRounds; ++round) {
      before.push_back(
          run_once(request_, interrupts_, progress_, {"as asked", {}, consumer_}, check_seconds_));
      after.push_back(run_once(request_, interrupts_, progress_, changed, check_seconds_));
    }
    const double was = median_run(before).samples_per_s;
    return was > 0 ? std::optional(median_run(after).samples_per_s / was) : std::nullopt;
  }

  const Request& request_;
  const Interrupts& interrupts_;
  const double seconds_;
  Progress progress_;
  ConsumerPlan consumer_;
  Findings findings_;
  std::vector<Experiment> experiments_;
  double check_seconds_ = kLeastSeconds;
};

}  // namespace

int run_doctor(const Request& request, const Interrupts& interrupts) {
  return Doctor(request, interrupts).run();
}

}  // namespace dataline::cli
