// Writes what a loader delivers as a set: what `convert` and `recover` have in common.
//
// What a killed run had finished is gone on with: each shard's line in the manifest has the loader's position behind it.
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/cli/job.h"
#include "bindings/cli/job_line.h"
#include "bindings/cli/json.h"

namespace dataline::cli {

// TARGET as the command line has it: the second positional, with --shard-bytes and --codec.
std::string target_of(const Request& request);

class SetWriter {
 public:
  // All outlive this object. `command` begins the live line; `skip_bad`: bad samples are left out and listed.
  SetWriter(const char* command, const Request& request, const Interrupts& interrupts, Progress& progress,
            const Job& job, bool skip_bad);

  // Writes the dataset, one epoch or as many as the options say. Throws Failure, or Interrupted with what is finished said.
  // `dataset`: the one that the loader reads.
  void write(const dl_dataset* dataset, dl_loader* loader);

  // "1,200 samples, 5.1 MB in 3 shards: arrow:out"
  std::string summary() const;
  // {uri, samples, resumed, bad, shards, bytes, seconds}, without the braces.
  void summary(Json& json) const;

 private:
  using Writer = std::unique_ptr<dl_writer, Call<dl_writer_destroy>>;

  void create_writer(const dl_dataset* dataset, dl_loader* loader);
  std::string job_text(const dl_dataset* dataset, dl_loader* loader) const;
  std::string source_text(const dl_dataset* dataset) const;
  void pump(dl_loader* loader);
  void append(dl_loader* loader, const dl_batch* batch);
  dl_writer_info info() const;
  void check(dl_status status, const dl_error& error) const;  // of the writer, whose text is the target
  void tell_new_bad(const dl_loader* loader);
  void tell_rest() const;

  const char* const command_;
  const Request& request_;
  const Interrupts& interrupts_;
  Progress& progress_;
  const Job& job_;
  const bool skip_bad_;
  const std::string target_;
  Writer writer_;
  std::vector<dl_array> arrays_;              // of a batch
  std::vector<std::vector<int64_t>> shapes_;  // of them
  int64_t bad_ = 0;
  double seconds_ = 0;
};

}  // namespace dataline::cli
