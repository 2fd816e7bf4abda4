// The default, num_workers=auto, next to every static setting of a grid: its rate after five seconds, as a share of the best of
// the grid.
// "one CPU from then on": so long after all but one CPU were taken from the whole process; the grid then had that one too.
//   dataline_auto MNIST-DIR PHOTO-DIR [JOB]
// Each setting has its own loader. The best one, the default and tune=off then take turns, each with the loader it has.
// SPDX-License-Identifier: Apache-2.0
#include <dataline.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Settings = std::vector<std::pair<std::string, std::string>>;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void need(dl_status status, const dl_error& error) {
  if (status >= 0) return;
  fprintf(stderr, "dataline_auto: %s\n", error.message);
  exit(1);
}

void compute(double ms) {
  const auto begin = Clock::now();
  while (seconds_since(begin) < ms * 1e-3) {
  }
}

// What the loop does with a batch.
struct Step {
  double sleeps_ms = 0;    // as one that waits for an accelerator
  double computes_ms = 0;  // on `threads` CPUs
  int threads = 1;
  void run() const {
    if (sleeps_ms > 0) std::this_thread::sleep_for(std::chrono::duration<double>(sleeps_ms * 1e-3));
    if (computes_ms <= 0) return;
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(compute, computes_ms);
    compute(computes_ms);
    for (std::thread& other : others) other.join();
  }
};

// Storage that answers a read of any size after 4 ms.
int32_t read_late(void*, dl_reader_request* request) {
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  for (int32_t i = 0; i < request->record_count; ++i)
    *static_cast<int64_t*>(dl_reader_cell_at(request, i, 0)->data) = request->indices[i];
  return 0;
}

struct Job {
  std::string name, uri;  // "": the slow reader
  Settings settings;
  Step step;
  bool loses_cpus = false;  // in its midst
};

// Every thread of this process, those of loaders too, and what they start.
void use_cpus(const cpu_set_t& cpus) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    sched_setaffinity(std::stoi(thread.path().filename()), sizeof cpus, &cpus);
}

// While it lives the process has one CPU.
class OneCpu {
 public:
  OneCpu() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all_)) CPU_SET(cpu, &one);
    use_cpus(one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { use_cpus(all_); }

 private:
  cpu_set_t all_;
};

// Random tokens, kept for the run.
class TokenFile {
 public:
  TokenFile() {
    std::ofstream file(path_, std::ios::binary);
    std::mt19937 random(1);
    for (int part = 0; part < 1024; ++part) {
      std::vector<uint16_t> tokens(32768);
      for (uint16_t& token : tokens) token = static_cast<uint16_t>(random());
      file.write(reinterpret_cast<const char*>(tokens.data()), 65536);
    }
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  ~TokenFile() { std::filesystem::remove(path_); }
  std::string uri() const { return "tokens:" + path_ + "?dtype=u16&length=1024"; }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("dataline-auto-" + std::to_string(getpid()) + ".bin"))
          .string();
};

class Run {
 public:
  Run(const Job& job, const Settings& more) : step_(job.step) {
    dl_error error = DL_ERROR_INIT;
    dl_options* options = nullptr;
    need(dl_options_create(&options, &error), error);
    for (const Settings& settings : {job.settings, more}) {
      for (const auto& [key, value] : settings)
        need(dl_options_set(options, key.c_str(), value.c_str(), &error), error);
    }
    need(job.uri.empty() ? open_slow(&error) : dl_dataset_open(job.uri.c_str(), options, &dataset_, &error),
         error);
    need(dl_loader_create(dataset_, options, &loader_, &error), error);
    dl_options_destroy(options);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    dl_loader_destroy(loader_);
    dl_dataset_destroy(dataset_);
  }

  // Batches a second.
  double rate(double seconds) {
    const auto begin = Clock::now();
    int64_t batches = 0;
    double elapsed = 0;
    while (elapsed < seconds) {
      dl_error error = DL_ERROR_INIT;
      dl_batch* batch = nullptr;
      const dl_status status = dl_loader_next(loader_, -1, &batch, &error);
      need(status, error);
      if (batch != nullptr) {
        step_.run();
        ++batches;
        dl_batch_release(batch);
      }
      elapsed = seconds_since(begin);
    }
    return static_cast<double>(batches) / elapsed;
  }
  dl_tuned tuned() const {
    dl_error error = DL_ERROR_INIT;
    dl_tuned tuned = {};
    tuned.struct_size = sizeof tuned;
    need(dl_loader_tuned(loader_, &tuned, &error), error);
    return tuned;
  }

 private:
  dl_status open_slow(dl_error* error) {
    dl_view field = {};
    field.struct_size = sizeof field;
    field.kind = DL_KIND_DENSE;
    field.name = "data";
    field.dtype = DL_DTYPE_I64;
    dl_reader reader = {};
    reader.struct_size = sizeof reader;
    reader.field_count = 1;
    reader.fields = &field;
    reader.record_count = 1'000'000;
    reader.read = read_late;
    return dl_dataset_from_reader(&reader, nullptr, &dataset_, error);
  }

  const Step step_;
  dl_dataset* dataset_ = nullptr;
  dl_loader* loader_ = nullptr;
};

Settings fixed(int64_t workers, int64_t depth) {
  return {{"num_workers", std::to_string(workers)}, {"prefetch_depth", std::to_string(depth)}};
}

// Prints the grid; its best.
std::pair<int64_t, int64_t> best_of_grid(const Job& job, double& best) {
  const std::optional<OneCpu> limit = job.loses_cpus ? std::make_optional<OneCpu>() : std::nullopt;
  std::pair<int64_t, int64_t> best_at;
  for (const int64_t workers : {1, 2, 4, 8}) {
    printf("%s\t%ld workers\t", job.name.c_str(), static_cast<long>(workers));
    for (const int64_t depth : {1, 2, 4, 8, 16}) {
      Run run(job, fixed(workers, depth));
      run.rate(0.5);
      const double rate = run.rate(1);
      printf("depth %ld: %.1f\t", static_cast<long>(depth), rate);
      fflush(stdout);
      if (rate <= best) continue;
      best = rate;
      best_at = {workers, depth};
    }
    printf("\n");
  }
  return best_at;
}

void compare(const Job& job) {
  double best = 0;
  const auto best_at = best_of_grid(job, best);
  Run tuned(job, {}), untuned(job, {{"tune", "off"}}), still(job, fixed(best_at.first, best_at.second));
  double first = tuned.rate(5);
  std::optional<OneCpu> limit;
  if (job.loses_cpus) {
    limit.emplace();
    first = tuned.rate(5);
  }
  const dl_tuned at_five = tuned.tuned();
  untuned.rate(0.5);
  still.rate(0.5);
  std::vector<double> shares, defaults;
  for (int round = 0; round < 7; ++round) {
    const double ours = tuned.rate(1), theirs = still.rate(1);
    shares.push_back(ours / theirs);
    defaults.push_back(untuned.rate(1) / theirs);
  }
  std::sort(shares.begin(), shares.end());
  std::sort(defaults.begin(), defaults.end());
  const dl_tuned after = tuned.tuned();
  printf(
      "%s\tbest %ld workers, depth %ld: %.1f batches/s; the default: %.1f in its first 5 s (%ld workers, "
      "depth "
      "%ld, %ld changes), "
      "then %.3f of the best (%.3f to %.3f); tune=off %.3f (%.3f to %.3f)\n\t%ld changes: %s\n",
      job.name.c_str(), static_cast<long>(best_at.first), static_cast<long>(best_at.second), best, first,
      static_cast<long>(at_five.num_workers), static_cast<long>(at_five.prefetch_depth),
      static_cast<long>(at_five.changes), shares[3], shares.front(), shares.back(), defaults[3],
      defaults.front(), defaults.back(), static_cast<long>(after.changes), after.text);
  fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    fprintf(stderr, "usage: dataline_auto MNIST-DIR PHOTO-DIR [JOB]\n");
    return 2;
  }
  const std::string mnist = std::string("mnist:") + words[1], photos = std::string("folder:") + words[2];
  const Settings rows = {{"batch_size", "256"}, {"shuffle", "full"}};
  const Settings crops = {
      {"batch_size", "16"},
      {"shuffle", "full"},
      {"transform", "image: decode, random_resized_crop(224), hflip(0.5), normalize(imagenet), chw"}};
  const TokenFile tokens;
  const std::vector<Job> jobs = {
      {"rows", mnist, rows, {}},
      {"rows, a step of 1 ms", mnist, rows, {.computes_ms = 1}},
      {"tokens", tokens.uri(), {{"batch_size", "64"}, {"shuffle", "full"}}, {}},
      {"photographs", photos, crops, {}},
      {"photographs, an accelerator of 5 ms", photos, crops, {.sleeps_ms = 5}},
      {"photographs, a slow consumer of 60 ms", photos, crops, {.sleeps_ms = 60}},
      {"photographs, a step of 10 ms on two CPUs", photos, crops, {.computes_ms = 10, .threads = 2}},
      {"photographs, one CPU from then on", photos, crops, {.sleeps_ms = 5}, true},
      {"slow storage", "", {{"batch_size", "16"}}, {.sleeps_ms = 0.5}},
      {"slow storage, a step of 2 ms", "", {{"batch_size", "16"}}, {.computes_ms = 2}}};
  for (const Job& job : jobs) {
    if (count < 4 || job.name == words[3]) compare(job);
  }
  return 0;
}
