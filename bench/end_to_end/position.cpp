// Changes of position: into the next epoch, and to a saved position in a set of 10^9 samples.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

constexpr int64_t kPositionRowBytes = 784;
constexpr int64_t kPositionBatch = 256;
constexpr int64_t kPrefetchDepth = 4;  // the default

double to_us(int64_t ns) { return static_cast<double>(ns) * 1e-3; }

void wait_until(int64_t time_ns) {
  while (now_ns() < time_ns) {
  }
}

// The two calls at the end of an epoch, the one that reports it and the one that returns the next epoch's first batch,
// compared with an ordinary call. The consumer works 100 us per batch, longer than loading takes, so that only the epoch
// change is measured, not the copy of a batch.
void measure_epochs(Job& job, const std::string& name, double seconds, Report& report) {
  std::vector<double> change_us;
  std::vector<double> ordinary_us;
  const int64_t deadline = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (now_ns() < deadline || change_us.size() < 3) {
    dl_batch* batch = nullptr;
    dl_error error = DL_ERROR_INIT;
    const int64_t begin = now_ns();
    dl_status status = dl_loader_next(job.loader(), -1, &batch, &error);
    const bool ended = status == DL_END_OF_EPOCH;
    if (ended) status = dl_loader_next(job.loader(), -1, &batch, &error);
    const int64_t got = now_ns();
    if (status != DL_OK) fail(error.message);
    (ended ? change_us : ordinary_us).push_back(to_us(got - begin));
    wait_until(got + 100'000);
    dl_batch_release(batch);
  }
  report.set(name, "next_epoch_us", median(change_us));
  report.set(name, "next_epoch_worst_us", *std::max_element(change_us.begin(), change_us.end()));
  report.set(name, "ordinary_next_us", median(ordinary_us));
  report.set(name, "extra_us", median(change_us) - median(ordinary_us));
}

struct Resumed {
  double load_us = 0;
  double first_batch_ms = 0;
};

// Loads the state into a loader at another position and takes the first batch.
Resumed resume_once(Job& job, const std::string& state, int64_t epoch, int64_t step) {
  dl_error error = DL_ERROR_INIT;
  const int64_t begin = now_ns();
  const dl_status status = dl_loader_state_load(job.loader(), state.c_str(), &error);
  const int64_t loaded = now_ns();
  if (status != DL_OK) fail(error.message);
  dl_batch* batch = job.next();
  const int64_t got = now_ns();
  dl_batch_info info{};
  info.struct_size = sizeof info;
  if (dl_batch_get_info(batch, &info, &error) != DL_OK || info.step != step || info.epoch != epoch) {
    fail("the state led to another place");
  }
  dl_batch_release(batch);
  return {to_us(loaded - begin), static_cast<double>(got - begin) * 1e-6};
}

// Waits until nothing is being loaded, so that earlier work is not measured.
void stand_elsewhere(Job& job) {
  dl_error error = DL_ERROR_INIT;
  if (dl_loader_seek(job.loader(), 0, 0, &error) != DL_OK) fail(error.message);
  dl_batch_release(job.next());
  dl_stats stats{};
  stats.struct_size = sizeof stats;
  const int64_t limit = now_ns() + 100'000'000;
  do {
    if (dl_loader_stats(job.loader(), &stats, &error) != DL_OK) fail(error.message);
  } while (stats.num_workers > 0 && stats.ready_batches < kPrefetchDepth && now_ns() < limit);
}

// A saved state in the middle: first with no page of the file in memory, then with the records in memory.
void measure_resume(Job& job, const std::string& file, int64_t attempt, const std::string& name,
                    Report& report) {
  dl_error error = DL_ERROR_INIT;
  const int64_t step = job.batches_per_epoch() / 7 * (1 + attempt % 6) + attempt;
  const int64_t epoch = 3 + attempt;
  std::string state(4096, '\0');
  size_t bytes = state.size();
  const int64_t begin = now_ns();
  dl_status status = dl_loader_seek(job.loader(), epoch, step, &error);
  const int64_t sought = now_ns();
  if (status == DL_OK) status = dl_loader_state_save(job.loader(), state.data(), &bytes, &error);
  const int64_t saved = now_ns();
  if (status != DL_OK) fail(error.message);

  stand_elsewhere(job);
  drop_from_cache(file);
  const Resumed cold = resume_once(job, state, epoch, step);
  stand_elsewhere(job);
  const Resumed hot = resume_once(job, state, epoch, step);
  report.set(name, "seek_us", to_us(sought - begin));
  report.set(name, "state_save_us", to_us(saved - sought));
  report.set(name, "state_load_us", hot.load_us);
  report.set(name, "resume_ms", hot.first_batch_ms);
  report.set(name, "resume_cold_ms", cold.first_batch_ms);
  report.set(name, "state_bytes", static_cast<double>(bytes));
}

}  // namespace

std::vector<Variant> next_epoch(const Settings& settings) {
  const std::string file =
      random_rows_file(settings.data_dir, settings.small ? 6'000 : 60'000, kPositionRowBytes);
  std::vector<Variant> variants;
  for (const int workers : {0, 1}) {
    auto job = std::make_shared<Job>("npy:" + file, OptionList{{"batch_size", std::to_string(kPositionBatch)},
                                                               {"shuffle", "full"},
                                                               {"num_workers", std::to_string(workers)}});
    variants.push_back({"dataline w" + std::to_string(workers),
                        [job](const std::string& name, double seconds, Report& report) {
                          measure_epochs(*job, name, seconds, report);
                        }});
  }
  return variants;
}

std::vector<Variant> resume(const Settings& settings) {
  const std::string file = sparse_rows_file(settings.data_dir, 1'000'000'000, kPositionRowBytes);
  std::vector<Variant> variants;
  for (const int workers : {0, 1}) {
    auto job = std::make_shared<Job>("npy:" + file, OptionList{{"batch_size", std::to_string(kPositionBatch)},
                                                               {"shuffle", "full"},
                                                               {"num_workers", std::to_string(workers)}});
    variants.push_back(
        {"dataline w" + std::to_string(workers),
         [job, file, attempt = int64_t{0}](const std::string& name, double, Report& report) mutable {
           measure_resume(*job, file, attempt++, name, report);
         }});
  }
  return variants;
}

}  // namespace bench
