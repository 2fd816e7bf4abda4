// Indexing a list of files with their labels.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder_index.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/memory/file.h"
#include "core/source/damage.h"
#include "core/source/labels/label_number.h"
#include "core/source/labels/label_rows.h"
#include "core/source/names.h"
#include "core/source/text_encoding.h"

namespace dataline {
namespace {

constexpr int64_t kRowsPerCheck = 1024;  // of the cancel token, and reports of progress

// Removes "." and empty components, which do not change what a path means.
std::string normalized(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    size_t slash = std::min(path.find('/'), path.size());
    std::string_view component = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (component.empty() || component == ".") continue;
    out += concat(out.empty() ? "" : "/", component);
  }
  return out;
}

class List {
 public:
  List(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
       FolderIndex& index)
      : root_(root),
        options_(options),
        context_(context),
        index_(index),
        seen_(&index.resource),
        names_(&index.resource) {}

  Status add(const LabelRow& row) {
    DL_RETURN_IF_ERROR(check_cancelled());
    Status status = add_row(row);
    const bool left_out =
        context_.bad_files == BadFiles::kSkip && (is_damage(status) || status.code() == Code::kOutOfRange);
    if (!left_out) return status;
    index_.notes.push_back(concat(kLeftOut, status.text()));
    context_.log(LogLevel::kWarning, index_.notes.back());
    if (first_left_out_.is_ok()) first_left_out_ = std::move(status);
    return Status::ok();
  }

  Status finish() {
    DL_RETURN_IF_ERROR(refuse_duplicates());
    DL_RETURN_IF_ERROR(refuse_spaces());
    number_names();
    index_.finish();
    if (index_.count() > 0) return Status::ok();
    if (!first_left_out_.is_ok())
      return std::move(first_left_out_).in("none of its files can be read, the first because of");
    return options_.allow_empty ? Status::ok() : error(Code::kEmpty, name(), ": names no files");
  }

 private:
  struct Seen {
    uint64_t hash;
    int64_t index;
    int64_t line;
  };

  Status add_row(const LabelRow& row) {
    DL_ASSIGN_OR_RETURN(std::string path, checked_path(row));
    Result<uint32_t> bytes = file_bytes(row, path);
    // Also where the file is missing: it may be the only one of a class, and classes are numbered in the order of their names.
    Result<int64_t> label = read_label(row);
    if (!bytes.is_ok()) return bytes.take_status();
    if (!label.is_ok()) return label.take_status();
    Digest digest;
    digest.add(path);
    seen_.push_back({digest.value(), index_.count(), row.line});
    index_.add(path, bytes.value());
    index_.labels.push_back(label.value());
    context_.progress->add_entries(1);
    return Status::ok();
  }

  const std::string& name() const { return options_.label_file; }

  // Also reports progress.
  Status check_cancelled() {
    if (index_.count() % kRowsPerCheck != 0) return Status::ok();
    if (context_.cancelled())
      return error(Code::kCancelled, name(), ": cancelled after ", index_.count(), " files");
    context_.report("indexing ", root_.path());
    return Status::ok();
  }

  Result<std::string> checked_path(const LabelRow& row) const {
    auto refuse = [&](std::string_view why) {
      return line_error(Code::kCorrupt, name(), row.line, "path ", shown_text(row.path), " ", why);
    };
    if (row.path.empty()) return line_error(Code::kCorrupt, name(), row.line, "the path is empty");
    if (row.path.find('\0') != std::string_view::npos) return refuse("contains a NUL byte");
    if (row.path.starts_with('/')) return refuse("is absolute, expected one relative to the folder");
    std::string path = normalized(row.path);
    if (concat("/", path, "/").find("/../") != std::string::npos)
      return refuse("leads out of the folder ('..')");
    if (row.path.ends_with('/') || path.empty()) return refuse("is a directory, expected a file");
    if (path.size() >= kMaxPathBytes)
      return refuse(concat("has ", path.size(), " bytes, at most ", kMaxPathBytes - 1));
    return path;
  }

  Result<uint32_t> file_bytes(const LabelRow& row, const std::string& path) const {
    Result<FileFacts> facts = root_.look_at(path.c_str(), Links::kBeneath);
    if (facts.is_ok() && facts.value().is_file) {
      return static_cast<uint32_t>(std::min<int64_t>(facts.value().bytes, UINT32_MAX));
    }
    std::string where = concat(name(), ": line ", row.line);
    if (facts.is_ok()) return not_a_file_error(root_.path_of(path), facts.value().mode).in(where);
    if (row.line == 1 && facts.status().code() == Code::kNotFound && has_suffix(name(), ".csv")) {
      where += " (no header: one would name the columns path and label)";
    }
    return facts.take_status().in(where);
  }

  Result<int64_t> read_label(const LabelRow& row) {
    if (trim_label(row.label).empty())
      return line_error(Code::kCorrupt, name(), row.line, "the label is empty");
    const LabelNumber read = read_label_number(row.label);
    const bool number = !row.label_is_text && read.form != LabelForm::kName;
    if (number) DL_RETURN_IF_ERROR(check_number(row, read));
    if (!numbers_) numbers_ = number;
    if (*numbers_ != number) {
      return line_error(Code::kCorrupt, name(), row.line, "label ", shown_text(row.label), ": expected ",
                        *numbers_ ? "a number" : "a name", " as in the lines before");
    }
    if (number) return read.value;
    if (row.label.find('\0') != std::string_view::npos) {
      return line_error(Code::kCorrupt, name(), row.line, "label ", shown_text(row.label),
                        " contains a NUL byte");
    }
    auto known = names_.find(row.label);
    if (known != names_.end()) return known->second.id;
    auto id = static_cast<int64_t>(names_.size());
    names_.emplace(row.label, Name{id, row.line});
    real_names_ = real_names_ || read.form != LabelForm::kWhole;
    return id;
  }

  Status check_number(const LabelRow& row, const LabelNumber& read) const {
    const auto refuse = [&](Code code, std::string_view expected) {
      return line_error(code, name(), row.line, "label ", shown_text(row.label), ": ", expected);
    };
    constexpr std::string_view kWhole = "expected a whole number from 0, or a name";
    switch (read.form) {
      case LabelForm::kNegative:
        return refuse(Code::kOutOfRange, kWhole);
      case LabelForm::kFraction:
      case LabelForm::kNotFinite:
        return refuse(Code::kCorrupt, kWhole);
      case LabelForm::kAnotherNotation:
        return refuse(Code::kCorrupt,
                      "looks like a number, but is not in decimal digits: write decimal digits, or, for a "
                      "name, use a .jsonl list with the name in quotes");
      case LabelForm::kTooLarge:
        return refuse(Code::kOutOfRange, options_.label_u8 ? "label_dtype=u8 holds 0 to 255"
                                                           : "label_dtype=i64 holds 0 to 2^63-1");
      default:
        break;
    }
    if (!options_.label_u8 || read.value <= UINT8_MAX) return Status::ok();
    return refuse(Code::kOutOfRange, "label_dtype=u8 holds 0 to 255");
  }

  // `cat` and ` cat` would be two classes.
  Status refuse_spaces() const {
    for (const auto& [text, name_of] : names_) {
      const std::string_view trimmed = trim_label(text);
      const auto other = trimmed.size() == text.size() ? names_.end() : names_.find(trimmed);
      if (other == names_.end()) continue;
      return line_error(Code::kCorrupt, name(), std::max(name_of.line, other->second.line), "label ",
                        shown_text(text), " and label ", shown_text(trimmed), " in line ",
                        std::min(name_of.line, other->second.line), " differ only in spaces");
    }
    return Status::ok();
  }

  // Finds the first line that names a file for the second time. Only paths with equal hashes are compared.
  Status refuse_duplicates() {
    std::sort(seen_.begin(), seen_.end(), [](const Seen& a, const Seen& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
    });
    const Seen *first = nullptr, *second = nullptr;
    PathBuffer one, other;
    for (size_t i = 0; i < seen_.size(); ++i) {
      for (size_t j = i + 1; j < seen_.size() && seen_[j].hash == seen_[i].hash; ++j) {
        if (index_.paths.get(seen_[i].index, one) != index_.paths.get(seen_[j].index, other)) continue;
        if (second == nullptr || seen_[j].line < second->line) first = &seen_[i], second = &seen_[j];
        break;
      }
    }
    if (second == nullptr) return Status::ok();
    return line_error(Code::kCorrupt, name(), second->line, "path ",
                      shown_text(index_.paths.get(second->index, one)), " is already named in line ",
                      first->line);
  }

  // Names were numbered as they occurred; classes are numbered in the order of their names.
  void number_names() {
    if (names_.empty()) return;
    std::vector<int64_t> number_of(names_.size());
    for (const auto& [text, name_of] : names_) {
      number_of[static_cast<size_t>(name_of.id)] = static_cast<int64_t>(index_.classes.size());
      index_.classes.emplace_back(text);
    }
    for (int64_t& label : index_.labels) label = number_of[static_cast<size_t>(label)];
    if (real_names_) return;
    index_.notes.push_back(concat(
        name(), ": its labels are quoted numbers, so they are names, numbered in the order of their text: ",
        shown_text(index_.classes.back()), " is label ", index_.classes.size() - 1));
    context_.log(LogLevel::kInfo, index_.notes.back());
  }

  const OpenDirectory& root_;
  const FolderOptions& options_;
  const OpenContext& context_;
  FolderIndex& index_;
  std::pmr::vector<Seen> seen_;
  struct Name {
    int64_t id, line;  // the first line that has it
  };
  std::pmr::map<std::pmr::string, Name, std::less<>> names_;
  bool real_names_ = false;      // some name does not look like a number
  std::optional<bool> numbers_;  // decided by the first row
  Status first_left_out_;        // bad_files=skip
};

}  // namespace

Status index_list(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
                  FolderIndex& index) {
  OpenContext in_memory = context;  // so that truncating the list meanwhile cannot raise SIGBUS
  in_memory.io = IoMode::kMemory;
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(options.label_file, in_memory));
  const std::string_view all(reinterpret_cast<const char*>(file.at(0)), static_cast<size_t>(file.bytes()));
  DL_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(options.label_file, all));
  List list(root, options, context, index);
  auto add = [&](const LabelRow& row) { return list.add(row); };
  DL_RETURN_IF_ERROR(has_suffix(options.label_file, ".jsonl") ? each_jsonl_row(options.label_file, text, add)
                                                              : each_csv_row(options.label_file, text, add));
  return list.finish();
}

}  // namespace dataline
