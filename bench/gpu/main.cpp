// dataline_gpu --data DIR [--cuda-library FILE] [--seconds S] [--rounds N] [--small]: measures the accelerator path on
// device 0 and compares it with bare copies in the same run. Prints a line of JSON when ready, then one per round, like
// dataline_rows; bench/gpu.sh makes the table. Exits with 77 and one line on stderr without a device.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/gpu/gpu.h"

namespace {

constexpr int kSkipped = 77;

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: dataline_gpu --data DIR [--cuda-library FILE] [--seconds S] [--rounds N] [--small]\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  bench::GpuSettings settings;
  settings.cuda_library = "libcuda.so.1";
  int rounds = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--small") {
      settings.small = true;
    } else if (i + 1 == argc) {
      usage();
    } else if (flag == "--data") {
      settings.data_dir = argv[++i];
    } else if (flag == "--cuda-library") {
      settings.cuda_library = argv[++i];
    } else if (flag == "--seconds") {
      settings.seconds = std::atof(argv[++i]);
    } else if (flag == "--rounds") {
      rounds = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  if (settings.data_dir.empty() || settings.seconds <= 0 || rounds < 1) usage();

  std::string why_not;
  const auto cuda = bench::Cuda::open(settings.cuda_library, why_not);
  if (cuda == nullptr) {
    std::fprintf(stderr, "skipped: no CUDA device: %s\n", why_not.c_str());
    return kSkipped;
  }
  bench::Json json;
  json.begin_object().key("device").value(cuda->name()).key("cuda").value(cuda->version());
  bench::print_line(json.key("fake").value(cuda->is_fake()).end_object());
  bench::Report report;
  for (int round = 0; round < rounds; ++round) {
    bench::measure_transfers(*cuda, settings, report);
    bench::measure_idle(*cuda, settings, report);
    bench::measure_kernels(*cuda, settings, report);
    bench::measure_consumer(*cuda, settings, report);
    if (round == 0) bench::check_steady_memory(*cuda, settings, report);
    if (const std::string wrong = cuda->misuse(); !wrong.empty())
      bench::fail("the driver was misused: " + wrong);
    report.print_round();
  }
  return 0;
}
