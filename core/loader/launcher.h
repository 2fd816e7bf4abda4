// Which of how many processes this one is, by the variables that launchers set. The caller gives the environment: the
// library reads none. A room of the loader's, because only `rank=auto` and `world_size=auto` need it.
// Threads: externally synchronized.
// Failure: kInvalidArgument names the variables and their values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace dataline {

// The launchers' variables of an environment; all others are left out. Immutable once made.
class LauncherVariables {
 public:
  LauncherVariables() = default;
  // "NAME=value" strings, ended by a null, as environ is. Of a name that stands there twice the first counts, as for getenv.
  explicit LauncherVariables(const char* const* environment);

  bool given() const { return given_; }
  // Null: not set.
  const std::string* find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;  // the names are constants
  bool given_ = false;
};

struct Launcher {
  const char* family = "none";
  int64_t rank = 0;
  int64_t world_size = 1;        // -1: this launcher tells the rank only
  int64_t local_rank = 0;        // among those of this machine; -1: it does not say
  int64_t local_world_size = 1;  // -1: it does not say
  std::string said;              // "RANK=1 WORLD_SIZE=4"
};

// From one family. A half set, two families that contradict each other, and values that are no ranks are errors.
Result<Launcher> detect_launcher(const LauncherVariables& variables);

// The values of the options `rank` and `world_size`; kAutoRank in the place of a number asks the launcher. A number beside
// it has to be what the launcher says, or stands for what it does not say.
constexpr int64_t kAutoRank = -1;
struct Ranks {
  int64_t rank = 0;
  int64_t world_size = 1;
};
Result<Ranks> resolve_ranks(Ranks asked, const LauncherVariables& variables);

}  // namespace dataline
