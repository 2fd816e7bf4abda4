// `dataline convert`: runs the loader once and writes what it delivers as a set of another format.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/output.h"
#include "bindings/cli/set_writer.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// Where it begins is the set's to say; a set is written from host memory.
constexpr std::array<std::string_view, 3> kNotForConvert = {"start_epoch", "start_step", "device"};

}  // namespace

int run_convert(const Request& request, const Interrupts& interrupts) {
  Progress progress(standard_output_is_terminal());
  Job job(request, interrupts, progress);
  for (const Setting& setting : request.options) {
    if (std::find(kNotForConvert.begin(), kNotForConvert.end(), setting.key) == kNotForConvert.end())
      continue;
    throw usage_failure("convert does not accept " + flag_text(setting.key), "convert");
  }
  const Dataset dataset = job.open();
  job.one_at_a_time_if_ragged(request, dataset.get());
  const Loader loader = job.create(dataset.get());
  SetWriter set("convert", request, interrupts, progress, job, request.has("skip_bad"));
  set.write(dataset.get(), loader.get());
  Json json;
  json.begin_object();
  set.summary(json);
  json.end_object();
  print(request.has("json") ? json.text() + "\n" : set.summary() + "\n", interrupts);
  return 0;
}

}  // namespace dataline::cli
