// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/job_line.h"

#include <algorithm>
#include <string>

#include "bindings/cli/text.h"

namespace dataline::cli {

// Of the job, from this position on; kNoLimit if it has no end, or none that is known.
int64_t JobLine::batches_to_end(int64_t epoch, int64_t step) const {
  const char* text = "";
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_options_get(job_.options(), "epochs", &text, &error), error);
  const int64_t epochs = std::stoll(text);
  const int64_t steps = dl_loader_steps(loader_);
  int64_t left = 0;
  if (epochs == 0 || steps < 0) return kNoLimit;
  if (__builtin_mul_overflow(std::max<int64_t>(0, epochs - epoch), steps, &left)) return kNoLimit;
  return std::max<int64_t>(0, left - step);
}

LiveLine JobLine::after(int64_t batches, int64_t wanted, int64_t bytes) {
  auto stats = sized<dl_stats>();
  int64_t epoch = 0, step = 0;
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_loader_stats(loader_, &stats, &error), error);
  job_.check(dl_loader_position(loader_, &epoch, &step, &error), error);
  const Delivered total = {seconds_since(start_), static_cast<double>(batches),
                           static_cast<double>(stats.samples), static_cast<double>(bytes),
                           static_cast<double>(stats.wait_ns) * 1e-9};
  pace_.note(total);

  const int64_t steps = dl_loader_steps(loader_);
  LiveLine line;
  line.position = std::string(command_) + ": epoch " + grouped(epoch) + ", step " + grouped(step) +
                  (steps > 0 ? " of " + grouped(steps) : "");
  line.elapsed_s = total.seconds;
  line.samples_per_s = pace_.samples_per_s();
  line.bytes_per_s = pace_.bytes_per_s();
  const int64_t wanted_left = wanted == kNoLimit ? kNoLimit : wanted - batches;
  if (const int64_t left = std::min(wanted_left, batches_to_end(epoch, step)); left != kNoLimit) {
    line.done = total.steps / (total.steps + static_cast<double>(left));
    line.left_s = static_cast<double>(left) / pace_.steps_per_s();
  }
  if (stats.num_workers > 0)
    line.waited_share = pace_.waited_share();  // else next() loads, and waits for nobody
  return line;
}

}  // namespace dataline::cli
