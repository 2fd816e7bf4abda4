// Writes files atomically, and reads saved states.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/state_file.h"

#include <dataline.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bindings/cli/failure.h"
#include "bindings/cli/input_file.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr int64_t kMaxStateBytes = int64_t{16} << 20;  // what dl_loader_state_load looks at

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const int64_t count = write_some(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Creates a new file in the folder of `path`, and stores its name in `name`. Skips names that a killed run has left behind.
int create_beside(const std::string& path, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = path + ".part-" + std::to_string(getpid()) + "-" + std::to_string(attempt);
    const int fd = open_new(name);
    if (fd >= 0 || errno != EEXIST || attempt == 1000) return fd;
  }
}

}  // namespace

std::string read_state_file(const std::string& path, const Interrupts& interrupts) {
  InputFile file(path, interrupts);
  std::string text;
  char buffer[4096];
  while (static_cast<int64_t>(text.size()) <= kMaxStateBytes) {
    const size_t count = file.read(buffer, sizeof(buffer));
    if (count == 0) break;
    text.append(buffer, count);
  }
  if (static_cast<int64_t>(text.size()) > kMaxStateBytes) {
    throw Failure{.message =
                      path + ": not a saved state: it has more than " + grouped(kMaxStateBytes) + " bytes"};
  }
  if (text.find('\0') != std::string::npos) {
    throw Failure{.message =
                      path + ": not a saved state: byte " + std::to_string(text.find('\0')) + " is zero"};
  }
  return text;
}

void check_file_target(const std::string& path) {
  const PathKind kind = kind_of(path);
  if (kind == PathKind::kUnknown) throw system_failure(path, errno);
  if (kind == PathKind::kOther) throw Failure{.message = path + ": is not a plain file, choose another name"};
  const std::string folder = folder_of(without_links(path));
  if (!may_write_into(folder)) throw system_failure(folder, errno);
}

void write_file(const std::string& path, std::string_view text, std::string_view lost) {
  const std::string target = without_links(path);  // so that a rename does not replace a link
  const std::string folder_path = folder_of(target);
  std::string name;
  Descriptor file(create_beside(target, name));
  if (file.get() < 0) throw system_failure(target, errno);
  const auto give_up = [&](const std::string& what) {
    const int os_error = errno;
    remove_file(name);
    throw system_failure(what + ": " + std::string(lost), os_error);
  };
  if (!write_whole(file.get(), text) || !sync_file(file.get()) || !file.close()) give_up(name);
  if (!replace_file(name, target)) give_up(target);

  if (!sync_folder(folder_path)) {
    throw system_failure(path + ": saved, but a power failure may lose it", errno);
  }
}

}  // namespace dataline::cli
