// SPDX-License-Identifier: Apache-2.0
#include "core/source/open_files.h"

#include <utility>

namespace dataline {

OpenFiles::OpenFiles(const Uri& uri, const Format& format, OpenOne open_one, const OpenContext& context,
                     SetChecks& checks, size_t file_count)
    : uri_(uri),
      format_(format),
      proves_records_(format.proves_records != nullptr && format.proves_records(uri)),
      open_one_(std::move(open_one)),
      context_(context),
      checks_(checks),
      file_count_(file_count),
      losses_(context) {}

Result<SourceRef> OpenFiles::open(const Files& files) {
  std::vector<Part> parts;
  parts.reserve(files.size());
  for (const std::string& path : files) {
    DL_RETURN_IF_ERROR(before_file());
    DL_RETURN_IF_ERROR(open_file(path, parts));
    context_.progress->add_file();
  }
  for (const Status& finding : checks_.take_findings()) DL_RETURN_IF_ERROR(note_finding(finding));
  if (parts.empty()) {
    return Status(losses_.first())
        .in(concat("none of ", file_count_, " files can be opened, the first because of"));
  }
  losses_.fill_places(parts);
  Result<SourceRef> all = concat_sources(std::move(parts));
  return all.is_ok() ? std::move(all) : Result<SourceRef>(explain_mismatch(all.take_status()));
}

Status OpenFiles::open_file(const std::string& path, std::vector<Part>& parts) {
  FileCheck check = checks_of(path);
  const bool keep = context_.bad_files == BadFiles::kKeep, right = check.status.is_ok();
  // What is left of a file that was cut has no checksum; records may have, and what was appended has no part in the rest.
  const bool trusted = right || check.appended || proves_records_ || (check.cut && !keep);
  if (!right && !trusted && may_leave_out(check.status)) {
    losses_.leave_out(std::move(check.status));
    return Status::ok();
  }
  const bool go_on =
      right || (is_damage(check.status) && context_.bad_files != BadFiles::kError && (trusted || keep));
  if (!go_on) return explain(std::move(check.status));
  OpenContext context = context_;
  if (check.appended) context.max_file_bytes = check.bytes;
  Result<SourceRef> opened = open_one_(path, context);
  if (!opened.is_ok()) {
    Status cause = opened.take_status();
    if (may_leave_out(cause)) {
      losses_.leave_out(std::move(cause));
      return Status::ok();
    }
    const bool damaged = is_damage(cause);
    if (!right && damaged) cause = std::move(check.status);
    if (!keep || check.samples < 0 || !damaged) return explain(std::move(cause));
    losses_.keep_place(parts.size(), path, check.samples, std::move(cause));
    return Status::ok();
  }
  SourceRef source = opened.take();
  if (right || check.appended) {
    Status samples = SetChecks::check_samples(path, check, source->count());
    if (!samples.is_ok()) DL_RETURN_IF_ERROR(note_finding(samples));
  }
  if (!right) losses_.note(check.status);
  if (!trusted) source = damaged_source(std::move(source), std::move(check.status));
  parts.push_back({"", std::move(source), path});
  ++opened_;
  return Status::ok();
}

FileCheck OpenFiles::checks_of(const std::string& path) {
  FileCheck out;
  if (context_.checksums == Checksums::kRecords) return out;
  out = checks_.compare(path, format_.name);
  if (out.status.is_ok() && format_.check_sums != nullptr) out.status = format_.check_sums(path, context_);
  return out;
}

Status OpenFiles::note_finding(const Status& finding) {
  if (context_.bad_files == BadFiles::kError || !is_damage(finding)) return finding;
  losses_.note(finding);
  return Status::ok();
}

Status OpenFiles::before_file() const {
  if (context_.cancelled())
    return error(Code::kCancelled, uri_.text, ": cancelled after ", opened_, " of ", file_count_, " files");
  if (file_count_ > 1) context_.report("opening ", uri_.text);
  return Status::ok();
}

Status OpenFiles::explain(Status status) const {
  // A key is missing, as the file showed: point to where it would be typed.
  if (status.code() == Code::kBadUri && status.column() == 0) {
    return std::move(status).with_column(static_cast<int64_t>(uri_.text.size()) + 1);
  }
  if (status.code() != Code::kTooManyFiles || file_count_ == 1) return status;
  return std::move(status).in(concat(opened_, " of ", file_count_, " files are open"));
}

Status OpenFiles::explain_mismatch(Status status) const {
  if (status.code() != Code::kMismatch || !format_.infers || uri_.find("fields") != nullptr) return status;
  return error(Code::kMismatch, status.message(),
               "; fields are inferred from each file: declare them, as in fields=name:f64");
}

}  // namespace dataline
