// From before dl_dataset_open to the first batch of a full shuffle over a set that is a hole in a file, each
// time in a new process and with no page of the file in memory. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

constexpr int64_t kFirstRowBytes = 784;

void measure_child(const std::string& name, const std::string& file, Report& report) {
  drop_from_cache(file);
  std::FILE* child =
      ::popen(("/proc/" + std::to_string(::getpid()) + "/exe first_batch_child npy:" + file).c_str(), "r");
  double first_ms = 0;
  double create_ms = 0;
  double open_ms = 0;
  long long peak_bytes = 0;
  if (child == nullptr ||
      std::fscanf(child, "%lf %lf %lf %lld", &first_ms, &open_ms, &create_ms, &peak_bytes) != 4) {
    fail("the process for the first batch failed");
  }
  ::pclose(child);
  report.set(name, "first_batch_ms", first_ms);
  report.set(name, "open_ms", open_ms);
  report.set(name, "create_ms", create_ms);
  report.set(name, "peak_rss_mib", static_cast<double>(peak_bytes) / (1 << 20));
}

}  // namespace

int first_batch_child(const std::string& uri) {
  const int64_t begin = now_ns();
  dl_error error = DL_ERROR_INIT;
  dl_options* options = nullptr;
  dl_dataset* dataset = nullptr;
  dl_loader* loader = nullptr;
  dl_batch* batch = nullptr;
  dl_status status = dl_options_create(&options, &error);
  if (status == DL_OK) status = dl_options_set(options, "batch_size", "256", &error);
  if (status == DL_OK) status = dl_options_set(options, "shuffle", "full", &error);
  if (status == DL_OK) status = dl_dataset_open(uri.c_str(), options, &dataset, &error);
  const int64_t opened = now_ns();
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  const int64_t created = now_ns();
  if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, &error);
  const int64_t got = now_ns();
  if (status != DL_OK) fail(error.message);
  if (batch_rows(batch) != 256) fail("the first batch is not whole");
  std::printf("%.6f %.6f %.6f %lld\n", static_cast<double>(got - begin) * 1e-6,
              static_cast<double>(opened - begin) * 1e-6, static_cast<double>(created - opened) * 1e-6,
              static_cast<long long>(peak_rss_bytes()));
  dl_batch_release(batch);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  return 0;
}

std::vector<Variant> first_batch(const Settings& settings) {
  std::vector<Variant> variants;
  for (const int64_t rows : {int64_t{10'000'000}, int64_t{1'000'000'000}}) {
    const std::string file = sparse_rows_file(settings.data_dir, rows, kFirstRowBytes);
    variants.push_back(
        {rows == 10'000'000 ? "dataline 1e7" : "dataline 1e9",
         [file](const std::string& name, double, Report& report) { measure_child(name, file, report); }});
  }
  return variants;
}

}  // namespace bench
