// Forked children of a test; nothing on Windows, which has no fork.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __has_include(<sys/wait.h>)
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace dataline {

// Of every thread but this one: its id and how often it has left the CPU. Empty while one of them runs.
inline std::string sleeping_threads() {
  std::string seen = "asleep:";
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string thread = entry.path().filename();
    if (thread == std::to_string(gettid())) continue;
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && !line.starts_with("State:\tS")) return {};
      if (line.find("ctxt_switches:") != line.npos) seen += thread + line;
    }
  }
  return seen;
}

// fork() as a user may call it, whatever other threads do: glibc's allocator is safe in the child. A sanitizer's is not
// (gcc 12, clang 14): a thread that starts takes its locks, and the child would wait for them for ever. There it is called
// when all other threads sleep: when two looks in a row see them asleep and none has run in between.
inline pid_t fork_at_any_moment() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  for (std::string before;;) {
    std::string now = sleeping_threads();
    if (!now.empty() && now == before) break;
    before = std::move(now);
    sched_yield();
  }
#endif
  return fork();
}

// Runs `body` in a forked child; its return value, or 128 + the signal that ended it.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = fork_at_any_moment();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace dataline
#endif
