// Over 300 lines because it is one class: threads, listing and ordering share its state.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder_index.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/thread.h"
#include "core/base/thread_wait.h"
#include "core/memory/directory_listing.h"
#include "core/memory/file.h"
#include "core/memory/machine_limits.h"
#include "core/source/files.h"
#include "core/source/folder/paths.h"
#include "core/source/labels/label_number.h"
#include "core/source/names.h"

namespace dataline {
namespace {

constexpr int32_t kMaxThreads = 8;
constexpr int64_t kMinPendingForThreads = 8;  // with fewer directories, threads cost more than they gain
constexpr int64_t kEntriesPerCheck = 1024;    // of the cancel token
constexpr int64_t kMaxVisits =
    1024;  // of one directory through links, whose paths can multiply without limit
constexpr size_t kMaxLoopNotes = 4;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string join(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : concat(directory, "/", name);
}

// Directories are read by whichever thread is free, in any order, and sorted at the end.
class Walk {
 public:
  Walk(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context, FolderTree& tree,
       std::pmr::memory_resource* memory)
      : root_(root), options_(options), context_(context), tree_(tree), memory_(memory) {}

  Status run();

 private:
  struct Names {
    int64_t count = 0;
    std::string first;  // by Python's order, which no thread decides
    void add(const std::string& name) {
      if (count++ == 0 || python_less(name, first)) first = name;
    }
  };
  struct Found {                                            // in one directory
    std::vector<std::pair<std::string, bool>> directories;  // name, whether through a link
    bool ascii = true;
    int64_t beside_classes = 0;
    Names other, hidden;
  };

  void add(std::string_view path, int64_t class_index, const FolderDirectory* parent, bool through_link);
  FolderDirectory* take();
  void work(bool is_caller);
  void stop(Status status);
  void start_helpers();
  Status read(FolderDirectory& directory);
  Status list(FolderDirectory& directory, DirectoryListing& listing, Found& found);
  Status take_entry(FolderDirectory& directory, int descriptor, const DirectoryEntry& entry, Found& found);
  Status add_file(FolderDirectory& directory, std::string_view name, const FileFacts& facts);
  void add_subdirectories(FolderDirectory& directory, Found& found);
  void note_left_out(const FolderDirectory& directory, const Found& found);
  Result<bool> leads_back(const FolderDirectory& directory);
  Status check_cancelled();
  bool accepted(std::string_view name) const {
    return std::any_of(options_.extensions.begin(), options_.extensions.end(),
                       [&](const std::string& extension) { return has_suffix(name, extension); });
  }
  bool holds_classes(const FolderDirectory& directory) const {
    return directory.parent == nullptr && options_.labels == FolderLabels::kFolder;
  }
  void sort_directories();
  void make_notes();
  void note_order_of_numbers();

  const OpenDirectory& root_;
  const FolderOptions& options_;
  const OpenContext& context_;
  FolderTree& tree_;
  std::pmr::memory_resource* memory_;

  std::mutex mutex_;
  std::vector<FolderDirectory*> pending_;  // guarded by mutex_, like the next four
  std::map<std::pair<uint64_t, uint64_t>, int64_t>
      visits_;  // by device and inode, of directories reached through links
  std::vector<std::string> loops_;
  // What was left out: of each directory how many names, and the first one's path.
  std::vector<std::pair<std::string, int64_t>> other_, hidden_;
  int64_t loop_count_ = 0;
  Status failure_;
  int64_t beside_classes_ = 0;  // written by the thread that reads the root, read after all are joined
  // Directories are handed over under the mutex; these only tell WaitPoint when to wake.
  std::atomic<int64_t> waiting_{0};  // directories that no thread is reading yet
  std::atomic<int64_t> unread_{0};   // those and the ones being read; 0 ends the walk
  std::atomic<int64_t> files_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> out_of_memory_{false};
  std::exception_ptr refused_;  // of the first thread without memory; read after the joins
  WaitPoint changed_;
  std::vector<Thread> helpers_;  // last, so that they are joined before anything they use is destroyed
};

void Walk::add(std::string_view path, int64_t class_index, const FolderDirectory* parent, bool through_link) {
  {
    std::lock_guard lock(mutex_);
    FolderDirectory& directory = tree_.directories.emplace_back(memory_);
    directory.path = path;
    directory.class_index = class_index;
    directory.parent = parent;
    directory.through_link = through_link;
    pending_.push_back(&directory);
  }
  unread_.fetch_add(1);
  waiting_.fetch_add(1);
  changed_.notify_all();
}

FolderDirectory* Walk::take() {
  for (;;) {
    changed_.wait(kForever, [&] { return waiting_.load() > 0 || unread_.load() == 0 || stopped_.load(); });
    if (stopped_.load() || unread_.load() == 0) return nullptr;
    std::lock_guard lock(mutex_);
    if (pending_.empty()) continue;  // another thread was faster
    FolderDirectory* directory = pending_.back();
    pending_.pop_back();
    waiting_.fetch_sub(1);
    return directory;
  }
}

void Walk::stop(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.is_ok()) failure_ = std::move(status);
  }
  stopped_.store(true);
  changed_.notify_all();
}

void Walk::work(bool is_caller) {
  while (FolderDirectory* directory = take()) {
    Status status;
    try {
      status = read(*directory);
    } catch (const std::bad_alloc&) {
      if (!out_of_memory_.exchange(true)) refused_ = std::current_exception();
      status = error(Code::kNoMemory, root_.path(), ": no memory for its index");
    }
    if (!status.is_ok()) return stop(std::move(status));
    if (unread_.fetch_sub(1) == 1) changed_.notify_all();
    if (!is_caller) continue;
    if (helpers_.empty()) start_helpers();
    context_.report("indexing ", root_.path());
  }
}

// If a thread cannot be started, the walk continues with fewer.
void Walk::start_helpers() {
  if (waiting_.load() < kMinPendingForThreads) return;
  int32_t wanted = std::min(available_cpus(), kMaxThreads) - 1;
  for (int32_t i = 0; i < wanted; ++i) {
    Result<Thread> helper = Thread::start("dl-index", [this] { work(false); });
    if (!helper.is_ok()) return;
    helpers_.push_back(helper.take());
  }
}

Status Walk::run() {
  add("", -1, nullptr, false);
  work(true);
  helpers_.clear();  // joins
  if (refused_ != nullptr) std::rethrow_exception(refused_);
  DL_RETURN_IF_ERROR(failure_);
  sort_directories();
  make_notes();
  return Status::ok();
}

Status Walk::check_cancelled() {
  if (stopped_.load()) return error(Code::kCancelled, root_.path(), ": stopped");  // never the first error
  if (!context_.cancelled()) return Status::ok();
  return error(Code::kCancelled, root_.path(), ": cancelled after ", files_.load(), " files were found");
}

Status Walk::read(FolderDirectory& directory) {
  DL_RETURN_IF_ERROR(check_cancelled());
  std::string path(directory.path);
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(root_, path));
  DL_ASSIGN_OR_RETURN(directory.facts, facts_of(listing.descriptor(), root_.path_of(path)));
  DL_ASSIGN_OR_RETURN(bool back, leads_back(directory));
  if (back) return Status::ok();
  Found found;
  DL_RETURN_IF_ERROR(list(directory, listing, found));
  auto plain = [&](const FolderDirectory::File& a, const FolderDirectory::File& b) {
    return directory.name(a) < directory.name(b);
  };
  auto as_python = [&](const FolderDirectory::File& a, const FolderDirectory::File& b) {
    return python_less(directory.name(a), directory.name(b));
  };
  found.ascii ? std::sort(directory.files.begin(), directory.files.end(), plain)
              : std::sort(directory.files.begin(), directory.files.end(), as_python);
  if (holds_classes(directory)) beside_classes_ = found.beside_classes;
  note_left_out(directory, found);
  add_subdirectories(directory, found);
  return Status::ok();
}

// Whether this directory is one of its own parents, reached through a link. kTooLarge if links lead to it on more than
// kMaxVisits paths.
Result<bool> Walk::leads_back(const FolderDirectory& directory) {
  for (const FolderDirectory* above = directory.parent; above != nullptr; above = above->parent) {
    if (!above->facts.same_as(directory.facts)) continue;
    std::lock_guard lock(mutex_);
    ++loop_count_;
    if (loops_.size() < kMaxLoopNotes) loops_.push_back(root_.path_of(directory.path));
    return true;
  }
  if (!directory.through_link) return false;
  std::lock_guard lock(mutex_);
  if (++visits_[{directory.facts.device, directory.facts.inode}] <= kMaxVisits) return false;
  return error(Code::kTooLarge, root_.path_of(directory.path), ": links lead to this directory in more than ",
               kMaxVisits, " ways");
}

Status Walk::list(FolderDirectory& directory, DirectoryListing& listing, Found& found) {
  DirectoryEntry entry;
  for (int64_t seen = 1; listing.next(entry); ++seen) {
    if (seen % kEntriesPerCheck == 0) DL_RETURN_IF_ERROR(check_cancelled());
    DL_RETURN_IF_ERROR(take_entry(directory, listing.descriptor(), entry, found));
  }
  if (listing.failure() != 0) return file_error(root_.path_of(directory.path), listing.failure());
  return Status::ok();
}

// As os.walk(): a directory, also through a link, is a directory. Everything else is a file, whatever its kind, even a
// dangling link: reading it reports the error.
Status Walk::take_entry(FolderDirectory& directory, int descriptor, const DirectoryEntry& entry,
                        Found& found) {
  using Kind = DirectoryEntry::Kind;
  const std::string& name = entry.name;
  FileFacts facts;
  const bool link = entry.kind == Kind::kLink;
  if (link && facts_of_entry(descriptor, name.c_str(), facts) != 0) facts = {};
  if (is_hidden_name(name)) {
    // Hidden files of other kinds are never data: .DS_Store, .gitattributes.
    if (entry.kind == Kind::kDirectory || facts.is_directory || accepted(name)) found.hidden.add(name);
    return Status::ok();
  }
  if (entry.kind == Kind::kDirectory || facts.is_directory) {
    found.directories.emplace_back(name, link);
    return Status::ok();
  }
  if (!accepted(name)) {
    if (name != kManifestName) found.other.add(name);
    return Status::ok();
  }
  if (holds_classes(directory)) {
    ++found.beside_classes;
    return Status::ok();
  }
  if (entry.kind == Kind::kFile && facts_of_entry(descriptor, name.c_str(), facts) != 0) facts = {};
  found.ascii = found.ascii && is_ascii(name);
  return add_file(directory, name, facts);
}

Status Walk::add_file(FolderDirectory& directory, std::string_view name, const FileFacts& facts) {
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (directory.path.size() + 1 + name.size() >= kMaxPathBytes) {
    return file_error(root_.path_of(join(directory.path, name)), ENAMETOOLONG);
  }
  if (directory.names.size() + name.size() >= kMax) {
    return error(Code::kTooLarge, root_.path_of(directory.path),
                 ": the names in this directory exceed 4 GiB");
  }
  int64_t bytes = facts.is_file ? facts.bytes : 0;
  directory.files.push_back({static_cast<uint32_t>(directory.names.size()),
                             static_cast<uint32_t>(std::min<uint64_t>(static_cast<uint64_t>(bytes), kMax))});
  directory.names.append(name).push_back('\0');
  files_.fetch_add(1, std::memory_order_relaxed);
  context_.progress->add_entries(1);
  return Status::ok();
}

void Walk::note_left_out(const FolderDirectory& directory, const Found& found) {
  if (found.other.count == 0 && found.hidden.count == 0) return;
  std::lock_guard lock(mutex_);
  if (found.other.count > 0) other_.emplace_back(join(directory.path, found.other.first), found.other.count);
  if (found.hidden.count > 0)
    hidden_.emplace_back(join(directory.path, found.hidden.first), found.hidden.count);
}

void Walk::add_subdirectories(FolderDirectory& directory, Found& found) {
  bool classes = holds_classes(directory);
  if (classes) {
    std::sort(found.directories.begin(), found.directories.end(),
              [](const auto& a, const auto& b) { return python_less(a.first, b.first); });
    for (const auto& [name, link] : found.directories) tree_.classes.push_back(name);
  }
  int64_t class_index = directory.class_index;
  for (const auto& [name, link] : found.directories) {
    if (classes) ++class_index;
    add(join(directory.path, name), class_index, &directory, directory.through_link || link);
  }
}

void Walk::sort_directories() {
  for (FolderDirectory& directory : tree_.directories) {
    if (!holds_classes(directory)) tree_.in_order.push_back(&directory);
  }
  std::sort(tree_.in_order.begin(), tree_.in_order.end(),
            [](const FolderDirectory* a, const FolderDirectory* b) {
              if (a->class_index != b->class_index) return a->class_index < b->class_index;
              return python_less(a->path, b->path);
            });
}

void Walk::make_notes() {
  std::sort(loops_.begin(), loops_.end());
  for (const std::string& loop : loops_) {
    tree_.notes.push_back(concat(loop, ": leads back to a directory above it: not followed"));
  }
  auto more = loop_count_ - static_cast<int64_t>(loops_.size());
  if (more > 0) tree_.notes.push_back(concat(more, " more directories lead back to one above them"));
  LeftOut left_out;
  for (auto* names : {&other_, &hidden_}) {
    std::sort(names->begin(), names->end());
    const LeftOut::Kind kind = names == &other_ ? LeftOut::Kind::kOther : LeftOut::Kind::kHidden;
    for (const auto& [path, count] : *names) left_out.add(kind, path, count);
  }
  tree_.left_out = left_out.text();
  if (!tree_.left_out.empty()) {
    tree_.notes.push_back(concat(root_.path(), ": left out: ", tree_.left_out));
    context_.log(LogLevel::kInfo, tree_.notes.back());
  }
  if (beside_classes_ > 0) {
    tree_.notes.push_back(concat(beside_classes_, beside_classes_ == 1 ? " file is" : " files are",
                                 " outside the class folders: not read"));
  }
  note_order_of_numbers();
}

// "10" is before "2", as in torchvision.
void Walk::note_order_of_numbers() {
  std::string other;  // the first whose label is not its name
  for (size_t i = 0; i < tree_.classes.size(); ++i) {
    const std::string& name = tree_.classes[i];
    const LabelNumber number = read_label_number(name);
    if (number.form != LabelForm::kWhole) return;
    if (other.empty() && number.value != static_cast<int64_t>(i))
      other = concat(printable(name), " is label ", i);
  }
  if (other.empty()) return;
  tree_.notes.push_back(
      concat("class folders are numbered in the order of their names as text, as in torchvision: ", other));
}

}  // namespace

Result<FolderTree> walk_folder(const OpenDirectory& root, const FolderOptions& options,
                               const OpenContext& context, std::pmr::memory_resource* memory) {
  FolderTree tree(memory);
  Walk walk(root, options, context, tree, memory);
  DL_RETURN_IF_ERROR(walk.run());
  return tree;
}

}  // namespace dataline
