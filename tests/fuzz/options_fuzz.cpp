// Lines `key=value` as a loader's options: each is refused by its key, or told back as a text that sets the same; what
// all of them make together is a configuration, or refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/config.h"

#include "core/base/text.h"
#include "core/loader/option_table.h"
#include "core/loader/options.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

void set_one(Options& options, std::string_view key, std::string_view text) {
  Result<Option> found = Options::find(key);
  Options before = options;
  const Status status = options.set(key, text);
  if (!found.is_ok()) {
    check(status.code() == Code::kUnknownOption, "an unknown option is told as one", status.message());
    return check(status.message().find(key) != std::string::npos, "an unknown option is named",
                 status.message());
  }
  const Option option = found.value();
  if (!status.is_ok()) {
    check(status.code() == Code::kBadOption &&
              status.message().starts_with(concat("option ", key, ": expected ")),
          "a bad value names its option", status.message());
    return check(
        options.is_set(option) == before.is_set(option) && options.as_text(option) == before.as_text(option),
        "a refused value changes nothing", status.message());
  }
  check(options.is_set(option), "what was set is set");
  const OptionInfo& info = option_table()[static_cast<size_t>(option)];
  const std::string told = options.as_text(option);
  Options again;
  check(again.set(key, told).is_ok(), "a text that is told back is taken", told);
  check(again.as_text(option) == told && again.text(option) == options.text(option), "and means the same",
        told);
  if (info.type == OptionType::kBool || info.type == OptionType::kInt || info.type == OptionType::kSize) {
    const int64_t number = options.integer(option);
    check(again.integer(option) == number, "and is the same number", told);
    check(number >= info.minimum && number <= info.maximum, "a number is within its range", told);
    Options by_number;
    check(by_number.set_i64(key, number).is_ok() && by_number.as_text(option) == told,
          "the number sets the same", told);
  }
}

void run(std::string_view text) {
  if (text.size() > 4096) return;
  Options options;
  for (std::string_view line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    set_one(options, line.substr(0, equals), line.substr(equals + 1));
  }
  Result<LoaderConfig> config = make_config(options);
  if (!config.is_ok()) {
    check(config.status().message().size() > 10, "a contradiction is told", config.status().message());
    return;
  }
  const LoaderConfig& made = config.value();
  const Steps steps(made.steps);
  check(steps.world_size() >= 1 && made.steps.rank >= 0 && made.steps.rank < steps.world_size() &&
            made.workers.num_workers >= 0 && made.window.prefetch_depth >= 1 && made.window.max_leases >= 1 &&
            made.job.epochs >= 0,
        "a configuration is within its ranges");
  for (const int64_t rows : steps.global_batches()) check(rows >= 1, "a full step has rows");
  if (!options.is_set(Option::kGlobalBatchSize) && made.buckets.edges.empty()) {
    check(steps.global_batch() == options.integer(Option::kBatchSize) * steps.world_size(),
          "a step is all ranks' batches");
  }
}

const Target kTarget("options", run);

}  // namespace
}  // namespace dataline::fuzz
