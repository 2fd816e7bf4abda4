// The host's side of prefetch.cu: the command line, loaders over dataline.h, and the sum of a batch on the cpu.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <memory>
#include <string>

struct Job {
  int device = 0;
  int64_t batches = 200;
  int64_t work = 1;  // sums of one batch
  std::string uri;   // "": images made here
  std::string transform;
};

struct Destroy {
  void operator()(dl_options* options) const { dl_options_destroy(options); }
  void operator()(dl_dataset* dataset) const { dl_dataset_destroy(dataset); }
  void operator()(dl_loader* loader) const { dl_loader_destroy(loader); }
};
using Options = std::unique_ptr<dl_options, Destroy>;
using Dataset = std::unique_ptr<dl_dataset, Destroy>;
using Loader = std::unique_ptr<dl_loader, Destroy>;

// False after a line on stderr.
bool parse(int argc, char** argv, Job* job);

// Throws std::runtime_error with the error's message unless the status is DL_OK.
void check(dl_status status, const dl_error& error);

Dataset open_dataset(const Job& job);
// On "cpu" or "cuda:N", for ever.
Loader make_loader(const Job& job, dl_dataset* dataset, const std::string& device);
dl_batch* next_batch(dl_loader* loader);  // past the ends of epochs
dl_stats stats_of(const dl_loader* loader);

// Of the next batch of a loader on the cpu: all its 32-bit words and the bytes left over, as sum_words adds them.
unsigned long long host_sum(dl_loader* loader);
