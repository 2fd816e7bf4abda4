// The dataset and the loader of a command line, with error messages that point into its text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/command_line.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/handles.h"
#include "bindings/cli/interrupts.h"
#include "bindings/cli/progress.h"

namespace dataline::cli {

class Job {
 public:
  // Reads the array files that options name. Throws Failure.
  Job(const Request& request, const Interrupts& interrupts, Progress& progress);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Dataset open();
  Loader create(dl_dataset* dataset);
  // False where memory_budget refuses the plan; other errors are create()'s.
  bool create_within_budget(dl_dataset* dataset, Loader& out);

  // As check() of failure.h, with the user's texts, and with the signal in Interrupted.
  dl_status check(dl_status status, const dl_error& error) const;

  const dl_options* options() const { return options_.get(); }
  std::string value(const char* key) const;  // of an option: "cpu" of device, "1" of epochs
  // Batches of one sample in two slots, large enough for any sample within the default limits; but what `request` sets.
  void one_at_a_time(const Request& request, const dl_dataset* dataset);
  // For a run over all samples: rows of one size many at a time; others one by one, eight in flight, so that a large sample needs no
  // setting.
  void one_at_a_time_if_ragged(const Request& request, const dl_dataset* dataset);
  // What is opened in place of the command line's URI, which it begins with. Errors still show the command line's.
  void set_uri(const std::string& uri) { opened_uri_ = uri; }
  // Overrides the command line.
  void set(const char* key, const std::string& value);
  void set_sample(int64_t index);  // makes it the only sample of each epoch

 private:
  dl_status try_create(dl_dataset* dataset, Loader& out, dl_error& error);
  void set(const dl_option_info& option, const std::string& value);

  void tell_dataset(const dl_dataset* dataset);
  void tell_loader(const dl_loader* loader);

  const Interrupts& interrupts_;
  Progress& progress_;
  Written written_;
  std::string opened_uri_;
  Options options_;
  struct PerSample {
    const char* key;  // "weights"
    std::string file;
    int64_t count;
  };
  std::vector<PerSample> per_sample_;  // files of one number a sample
};

// The field to write: the named one, or the only one. Else throws Failure with a list of the fields.
int32_t choose_field(const Request& request, const dl_loader* loader);

}  // namespace dataline::cli
