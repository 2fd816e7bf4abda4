// SPDX-License-Identifier: Apache-2.0
#include "core/source/open_files.h"

#include <algorithm>
#include <utility>

#include "core/source/composed/parts.h"
#include "core/source/files.h"
#include "core/source/identity.h"

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
  first_empty_ = Status::ok();
  for (const std::string& path : files) {
    DL_RETURN_IF_ERROR(before_file());
    DL_RETURN_IF_ERROR(open_file(path, parts));
    context_.progress->add_file();
  }
  for (const Status& finding : checks_.take_findings()) DL_RETURN_IF_ERROR(note_finding(finding));
  if (parts.empty() && losses_.first().is_ok()) return explain(first_empty_);
  if (parts.empty()) {
    return Status(losses_.first())
        .in(concat("none of ", file_count_, " files can be opened, the first because of"));
  }
  // A file of 0 bytes of a format with a header was perhaps not written completely.
  if (!empty_.empty()) context_.log(lacks_header_ ? LogLevel::kWarning : LogLevel::kInfo, empty_note());
  losses_.fill_places(parts);
  if (context_.bad_files == BadFiles::kSkip) leave_out_others(parts);
  Result<SourceRef> all = concat_sources(std::move(parts));
  return all.is_ok() ? std::move(all) : Result<SourceRef>(explain_mismatch(all.take_status()));
}

// Of files with different fields or classes, those stay that most have; the first ones, where as many have others.
void OpenFiles::leave_out_others(std::vector<Part>& parts) {
  const auto check_alike = [](const std::vector<Part>& some, const std::string& what) {
    Status fields = check_fields(some, what);
    return fields.is_ok() ? check_classes(some, what) : fields;
  };
  if (check_alike(parts, uri_.text).is_ok()) return;
  struct Group {
    size_t first, count;
  };
  std::vector<Group> groups;
  std::vector<size_t> group_of(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return check_alike({parts[group.first], parts[i]}, uri_.text).is_ok();
    });
    group_of[i] = static_cast<size_t>(same - groups.begin());
    if (same == groups.end()) groups.push_back({i, 0});
    ++groups[group_of[i]].count;
  }
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const Group& a, const Group& b) { return a.count < b.count; });
  const Part kept = parts[most->first];
  std::vector<Part> rest;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (group_of[i] == static_cast<size_t>(most - groups.begin())) {
      rest.push_back(std::move(parts[i]));
    } else {
      const std::string path = parts[i].path;
      losses_.leave_out(explain_mismatch(check_alike({kept, std::move(parts[i])}, path)));
    }
  }
  parts = std::move(rest);
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
    if (right && has_no_samples(path, cause)) {
      // A manifest may state otherwise, whether checksums are wanted or not: this file lost its samples.
      check = checks_.compare(path, format_.name);
      if (check.status.is_ok()) check.status = SetChecks::check_samples(path, check, 0);
      if (check.status.is_ok()) {
        lacks_header_ = lacks_header_ || cause.code() != Code::kEmpty;
        if (first_empty_.is_ok()) first_empty_ = std::move(cause);
        empty_.push_back(path);
        return Status::ok();
      }
      cause = check.status;
    }
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

// Of a file that was not opened. A directory that one opener reads is not one of several files.
bool OpenFiles::has_no_samples(const std::string& path, const Status& status) const {
  if (file_count_ == 1 || (format_.is_member == nullptr && format_.host == nullptr)) return false;
  if (status.code() == Code::kEmpty) return true;
  const Result<MappedFile> file = MappedFile::open_unloaded(path, context_);
  return file.is_ok() && file.value().bytes() == 0;
}

std::string OpenFiles::empty_note() const {
  std::vector<std::string_view> names;
  for (const std::string& path : empty_) names.push_back(base_name(path));
  return concat(names.size(), names.size() == 1 ? " file has" : " files have",
                " no samples: ", some_names(names, ", "));
}

std::vector<std::string> OpenFiles::notes() const {
  std::vector<std::string> notes = losses_.notes();
  if (!empty_.empty()) notes.push_back(empty_note());
  return notes;
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
