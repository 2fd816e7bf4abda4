// Takes batches in device memory and sums them on a stream of its own, while the next ones are read and copied.
// SPDX-License-Identifier: Apache-2.0
//
//   example_cuda_prefetch [--device N] [--batches N] [--work N] [URI [TRANSFORM]]
//
// Without a URI: 20,000 images of 3 x 64 x 64 made here, normalised on the way. --work: how often a batch is summed, to
// stand for a longer step. Every batch is checked against the sum that the host gets from a loader of the same job on the
// cpu: all bits have to be the same. Exit status: 0 equal; 1 not, or something failed (no GPU); 2 a wrong argument.
//
// What a consumer has to do for a stream of its own is in run(): dl_batch_wait before the first use, dl_batch_release_on
// after the last. The host waits only in dl_loader_next, and once at the end.
#include <cuda_runtime_api.h>
#include <dataline.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "job.h"

namespace {

// Adds all 32-bit words, and what is left of bytes, to *sum: an integer, so that the order does not matter.
__global__ void sum_words(const unsigned char* bytes, int64_t count, unsigned long long* sum) {
  const auto* words = reinterpret_cast<const uint32_t*>(bytes);
  const int64_t word_count = count / 4;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (int64_t i = first; i < word_count; i += step) mine += words[i];
  for (int64_t i = word_count * 4 + first; i < count; i += step) mine += bytes[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

// An event before and one after each wait for a batch: between them the stream had nothing to do.
class WaitTimes {
 public:
  explicit WaitTimes(int64_t count) : events_(static_cast<size_t>(2 * count + 2)) {
    for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "cudaEventCreate");
  }
  ~WaitTimes() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  void mark(cudaStream_t stream) { check(cudaEventRecord(events_[next_++], stream), "cudaEventRecord"); }
  // Once the stream is done. Milliseconds; the first batch, which nothing could hide, is left out.
  float waited() const {
    float sum = 0;
    for (size_t i = 2; i + 2 < next_; i += 2) sum += between(i, i + 1);
    return sum;
  }
  float total() const { return between(1, next_ - 1); }

 private:
  float between(size_t from, size_t to) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events_[from], events_[to]), "cudaEventElapsedTime");
    return ms;
  }
  std::vector<cudaEvent_t> events_;
  size_t next_ = 0;
};

struct Report {
  std::vector<unsigned long long> sums;  // of each batch
  int64_t bytes = 0;                     // delivered
  float waited_ms = 0, total_ms = 0;
};

Report run(const Job& job, dl_loader* loader) {
  cudaStream_t stream = nullptr;
  unsigned long long* sums = nullptr;
  const size_t sums_bytes = static_cast<size_t>(job.batches) * sizeof *sums;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaMalloc(&sums, sums_bytes), "cudaMalloc");
  check(cudaMemsetAsync(sums, 0, sums_bytes, stream), "cudaMemsetAsync");
  Report report;
  WaitTimes times(job.batches);
  for (int64_t taken = 0; taken < job.batches; ++taken) {
    dl_batch* batch = next_batch(loader);
    dl_error error = DL_ERROR_INIT;
    times.mark(stream);
    check(dl_batch_wait(batch, stream, &error), error);
    times.mark(stream);
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batch, &count);
    for (int32_t i = 0; i < count; ++i) {
      const dl_view& view = *dl_view_at(views, i);
      const auto* bytes = static_cast<const unsigned char*>(view.data) + view.byte_offset;
      for (int64_t k = 0; k < job.work; ++k)
        sum_words<<<256, 256, 0, stream>>>(bytes, view.bytes, sums + taken);
      report.bytes += view.bytes;
    }
    check(cudaGetLastError(), "launch");
    check(dl_batch_release_on(batch, stream, &error), error);
  }
  times.mark(stream);
  report.sums.resize(static_cast<size_t>(job.batches));
  check(cudaMemcpyAsync(report.sums.data(), sums, sums_bytes, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  report.waited_ms = times.waited();
  report.total_ms = times.total();
  cudaFree(sums);
  cudaStreamDestroy(stream);
  return report;
}

void print(const Job& job, const Report& report, const dl_stats& stats) {
  const double seconds = report.total_ms * 1e-3;
  std::printf("batches: %" PRId64 " of %.2f MB, %.1f us each\n", job.batches,
              static_cast<double>(report.bytes) / static_cast<double>(job.batches) * 1e-6,
              report.total_ms * 1e3 / static_cast<double>(job.batches));
  std::printf("delivered: %.2f GB/s; over the bus: %.2f GB/s\n",
              static_cast<double>(report.bytes) / seconds * 1e-9,
              static_cast<double>(stats.copied_bytes) / seconds * 1e-9);
  std::printf("stream waited for data: %.2f %%\n", 100.0 * report.waited_ms / report.total_ms);
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (!parse(argc, argv, &job)) return 2;
  try {
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "no CUDA device");
    if (job.device >= devices) throw std::runtime_error("no CUDA device " + std::to_string(job.device));
    check(cudaSetDevice(job.device), "cudaSetDevice");

    const Dataset dataset = open_dataset(job);
    const Loader on_device = make_loader(job, dataset.get(), "cuda:" + std::to_string(job.device));
    const Report report = run(job, on_device.get());
    print(job, report, stats_of(on_device.get()));

    const Loader on_host = make_loader(job, dataset.get(), "cpu");
    for (int64_t i = 0; i < job.batches; ++i) {
      const unsigned long long wanted = host_sum(on_host.get()) * static_cast<unsigned long long>(job.work);
      if (wanted == report.sums[static_cast<size_t>(i)]) continue;
      throw std::runtime_error("batch " + std::to_string(i) + ": the device's sum is not the host's");
    }
    std::printf("check: all bits as on the host\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_cuda_prefetch: %s\n", error.what());
    return 1;
  }
  return 0;
}
