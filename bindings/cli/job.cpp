// Opens a dataset and a loader from the command line.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/job.h"

#include <algorithm>
#include <memory>

#include "bindings/cli/array_file.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/messages.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/plan.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

// Batches in flight where each is one sample, so that several workers find work. Of a sample of unknown size each takes 64 MiB
// of address space.
constexpr char kDepthOfSingles[] = "8";

template <typename T>
void release_vector(void* context) {
  delete static_cast<std::vector<T>*>(context);
}

}  // namespace

Job::Job(const Request& request, const Interrupts& interrupts, Progress& progress)
    : interrupts_(interrupts), progress_(progress) {
  written_.uri = opened_uri_ = request.uri();
  written_.transform = request.option("transform");

  dl_error error = DL_ERROR_INIT;
  dl_options* options = nullptr;
  check(dl_options_create(&options, &error), error);
  options_.reset(options);
  check(dl_options_set_cancel_token(options, interrupts.token(), &error), error);
  check(dl_options_set_log(options, progress.log(), &error), error);

  check(dl_options_set_extensions(options, request.extensions.get(), &error), error);

  // In the order of the command line, so the last of two settings wins. Array files are read once: a file may be a pipe.
  const auto table = options_of(request.option_scope());
  for (const dl_option_info& option : table) {
    const std::string preset = default_of(*request.command, option);
    if (preset != option.default_value) set(option, preset);
  }
  for (const Setting& setting : request.options) {
    for (const dl_option_info& option : table) {
      const bool is_array = is_array_option(option);
      if (setting.key == option.key && !(is_array && setting.value != request.option(setting.key))) {
        set(option, setting.value);
      }
    }
  }
}

void Job::set(const dl_option_info& option, const std::string& value) {
  dl_error error = DL_ERROR_INIT;
  if (option.type == DL_OPTION_INDICES) {
    auto values = std::make_unique<std::vector<int64_t>>(read_indices(value, interrupts_));
    check(dl_options_set_indices(options_.get(), values->data(), static_cast<int64_t>(values->size()),
                                 release_vector<int64_t>, values.get(), &error),
          error);
    static_cast<void>(values.release());
  } else if (option.type == DL_OPTION_LENGTHS) {
    auto values = std::make_unique<std::vector<int64_t>>(read_lengths(value, interrupts_));
    per_sample_.push_back({"lengths", value, static_cast<int64_t>(values->size())});
    check(dl_options_set_lengths(options_.get(), values->data(), static_cast<int64_t>(values->size()),
                                 release_vector<int64_t>, values.get(), &error),
          error);
    static_cast<void>(values.release());
  } else if (option.type == DL_OPTION_WEIGHTS) {
    auto values = std::make_unique<std::vector<double>>(read_weights(value, interrupts_));
    per_sample_.push_back({"weights", value, static_cast<int64_t>(values->size())});
    check(dl_options_set_weights(options_.get(), values->data(), static_cast<int64_t>(values->size()),
                                 release_vector<double>, values.get(), &error),
          error);
    static_cast<void>(values.release());
  } else {
    set(option.key, value);
  }
}

void Job::set(const char* key, const std::string& value) {
  dl_error error = DL_ERROR_INIT;
  check(dl_options_set(options_.get(), key, value.c_str(), &error), error);
}

void Job::set_sample(int64_t index) {
  dl_error error = DL_ERROR_INIT;
  check(dl_options_set_indices(options_.get(), &index, 1, nullptr, nullptr, &error), error);
}

std::string Job::value(const char* key) const {
  const char* value = "";
  dl_error error = DL_ERROR_INIT;
  check(dl_options_get(options_.get(), key, &value, &error), error);
  return value;
}

void Job::one_at_a_time(const Request& request, const dl_dataset* dataset) {
  const std::string_view format = dl_dataset_format(dataset);
  const bool mapped =
      format == "folder" || format == "tar";  // no copy of a record: room is address space alone
  const char* const kSettings[][2] = {{"batch_size", "1"},
                                      {"max_bytes_per_sample", mapped ? "4GiB" : "64MiB"},
                                      {"prefetch_depth", "1"},
                                      {"max_leases", "1"}};
  for (const auto& [key, value] : kSettings) {
    if (request.option(key).empty()) set(key, value);
  }
}

void Job::one_at_a_time_if_ragged(const Request& request, const dl_dataset* dataset) {
  const Views fields(dataset);
  if (std::none_of(fields.begin(), fields.end(),
                   [](const dl_view& field) { return field.kind == DL_KIND_RAGGED; }))
    return;
  one_at_a_time(request, dataset);
  if (request.option("prefetch_depth").empty()) set("prefetch_depth", kDepthOfSingles);
}

Dataset Job::open() {
  dl_error error = DL_ERROR_INIT;
  dl_dataset* dataset = nullptr;
  check(dl_dataset_open(opened_uri_.c_str(), options_.get(), &dataset, &error), error);
  Dataset opened(dataset);
  if (messages().verbose) tell_dataset(dataset);
  return opened;
}

// With --verbose: what was opened, and the notes of its format.
void Job::tell_dataset(const dl_dataset* dataset) {
  const int64_t samples = dl_dataset_count(dataset);
  progress_.tell(std::string(dl_dataset_uri(dataset)) + ": format " + dl_dataset_format(dataset) + ", " +
                 (samples < 0 ? "an unknown number of" : grouped(samples)) + " samples");
  for (int32_t i = 0; i < dl_dataset_note_count(dataset); ++i)
    progress_.tell("note: " + std::string(dl_dataset_note(dataset, i)));
}

// With --verbose: the loader's plan in short.
void Job::tell_loader(const dl_loader* loader) {
  const int64_t steps = dl_loader_steps(loader);
  auto stats = sized<dl_stats>();
  dl_error error = DL_ERROR_INIT;
  check(dl_loader_stats(loader, &stats, &error), error);
  progress_.tell("loader: " + (steps < 0 ? "an unknown number of" : grouped(steps)) +
                 " steps per epoch, num_workers " + std::to_string(stats.num_workers) + ", device " +
                 device_name(loader));
  for (const PlanStage& stage : plan_of(loader, {}).stages)
    progress_.tell("plan: " + stage.field + " on " + stage.runs_on + ": " + stage.text);
}

Loader Job::create(dl_dataset* dataset) {
  refuse_own_file(value("trace"), written_.uri);
  // The content of a file is not the command line's fault: exit status 1, while the library's error would give 2.
  const int64_t samples = dl_dataset_count(dataset);
  for (const PerSample& numbers : per_sample_) {
    if (samples < 0 || numbers.count == samples) continue;
    throw Failure{.message = numbers.file + ": " + std::to_string(numbers.count) + " " + numbers.key +
                             ", expected one per sample, " + std::to_string(samples)};
  }
  Loader created;
  dl_error error = DL_ERROR_INIT;
  check(try_create(dataset, created, error), error);
  return created;
}

bool Job::create_within_budget(dl_dataset* dataset, Loader& out) {
  dl_error error = DL_ERROR_INIT;
  const dl_status status = try_create(dataset, out, error);
  if (status == DL_ERR_OVER_BUDGET) return false;
  check(status, error);
  return true;
}

dl_status Job::try_create(dl_dataset* dataset, Loader& out, dl_error& error) {
  // For --rank auto and --world-size auto: the library does not read it by itself.
  check(dl_options_set_environment(options_.get(), environment(), &error), error);
  dl_loader* loader = nullptr;
  const dl_status status = dl_loader_create(dataset, options_.get(), &loader, &error);
  out.reset(loader);
  if (status == DL_OK && messages().verbose) tell_loader(loader);
  return status;
}

dl_status Job::check(dl_status status, const dl_error& error) const {
  if (interrupts_.came() && (status == DL_CANCELLED || status == DL_INTERRUPTED)) {
    throw Interrupted{interrupts_.signal()};
  }
  return cli::check(status, error, written_);
}

int32_t choose_field(const Request& request, const dl_loader* loader) {
  const Views fields(loader);
  const auto wanted = request.flag("field");
  std::string names;
  for (int32_t i = 0; i < fields.size(); ++i) {
    if (wanted ? *wanted == fields[i].name : fields.size() == 1) return i;
    names += (i > 0 ? ", " : "") + std::string(fields[i].name);
  }
  if (wanted)
    throw usage_failure("no field '" + *wanted + "'; the fields are " + names, request.command->name);
  throw usage_failure("which field? --field is one of " + names, request.command->name);
}

}  // namespace dataline::cli
