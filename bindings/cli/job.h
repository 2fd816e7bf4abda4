// A dataset and its loader as the command line describes them, with messages that point into what was
// written.
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
  // Reads the arrays that options name. Throws Failure.
  Job(const Request& request, const Interrupts& interrupts, Progress& progress);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Dataset open();
  Loader create(dl_dataset* dataset);

  // Throws with the text that the error speaks of; Interrupted with the signal that came.
  dl_status check(dl_status status, const dl_error& error) const;

  const dl_options* options() const { return options_.get(); }
  // Over what the command line says.
  void set(const char* key, const std::string& value);
  void set_sample(int64_t index);  // the only one of each epoch

 private:
  void set(const dl_option_info& option, const std::string& value);

  const Interrupts& interrupts_;
  Written written_;
  Options options_;
  std::string weights_file_;
  int64_t weights_ = -1;  // how many; -1: none given
};

// The one field to write: the named one, or the only one. Throws Failure listing the fields.
int32_t choose_field(const Request& request, const dl_loader* loader);

}  // namespace dataline::cli
