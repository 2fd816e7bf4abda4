// Opens the files of a URI one after another, by the options bad_files and checksums.
//
// A file without samples adds none, as long as another file has some: a file of 0 bytes, and one whose fields cannot be inferred
// because it has no records. Without such a file the first of them is the error.
// Threads: one at a time. Checks the cancel token between files, and reports progress.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/source/damage.h"
#include "core/source/format.h"
#include "core/source/set_checks.h"
#include "core/source/uri.h"

namespace dataline {

// The files that one path of a URI stands for.
using Files = std::vector<std::string>;

class OpenFiles {
 public:
  // All but `open_one` outlive the object. `file_count`: of all calls of open().
  OpenFiles(const Uri& uri, const Format& format, OpenOne open_one, const OpenContext& context,
            SetChecks& checks, size_t file_count);

  Result<SourceRef> open(const Files& files);
  // One for each file that was left out, or is not what its checksum says; one for all files without samples.
  std::vector<std::string> notes() const;

 private:
  Status before_file() const;
  Status open_file(const std::string& path, std::vector<Part>& parts);
  void leave_out_others(std::vector<Part>& parts);
  FileCheck checks_of(const std::string& path);
  Status note_finding(const Status& finding);
  std::string empty_note() const;
  bool has_no_samples(const std::string& path, const Status& status) const;
  bool may_leave_out(const Status& status) const {
    return context_.bad_files == BadFiles::kSkip && file_count_ > 1 && is_damage(status);
  }
  Status explain(Status status) const;
  Status explain_mismatch(Status status) const;

  const Uri& uri_;
  const Format& format_;
  const bool proves_records_;
  const OpenOne open_one_;
  const OpenContext& context_;
  SetChecks& checks_;
  const size_t file_count_;
  size_t opened_ = 0;
  Losses losses_;
  Files empty_;                // without samples
  bool lacks_header_ = false;  // one of them, of a format that has headers
  Status first_empty_;         // why the first of this call is not opened
};

}  // namespace dataline
