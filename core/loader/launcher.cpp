// SPDX-License-Identifier: Apache-2.0
#include "core/loader/launcher.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/message_text.h"
#include "core/base/text.h"

namespace dataline {
namespace {

// Up to two names that different versions use for the same thing: the first that is set counts.
using Names = std::array<const char*, 2>;

struct Family {
  const char* name;
  Names rank, size;  // no size: the launcher tells the rank only
  Names local_rank, local_size;
};

// The innermost launcher first: of two that both count, an earlier one was started by a later one.
constexpr Family kFamilies[] = {
    {"torchrun", {"RANK"}, {"WORLD_SIZE"}, {"LOCAL_RANK"}, {"LOCAL_WORLD_SIZE"}},
    {"jax", {"JAX_PROCESS_ID"}, {"JAX_NUM_PROCESSES"}, {}, {}},
    {"openmpi",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {"pmi",
     {"PMI_RANK", "MV2_COMM_WORLD_RANK"},
     {"PMI_SIZE", "MV2_COMM_WORLD_SIZE"},
     {"MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK"},
     {"MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}},
    // NTASKS is the job's, STEP_NUM_TASKS that of the step, which counts.
    {"slurm", {"SLURM_PROCID"}, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, {"SLURM_LOCALID"}, {}},
    {"pmix", {"PMIX_RANK"}, {}, {}, {}},
    {"kubernetes", {"JOB_COMPLETION_INDEX"}, {}, {}, {}},
};
constexpr Names kSlurmStep = {"SLURM_STEP_ID", "SLURM_STEPID"};
constexpr Names kSlurmNodes = {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"};
constexpr const char* kSlurmTasksPerNode = "SLURM_STEP_TASKS_PER_NODE";
constexpr const char* kSlurmNode = "SLURM_NODEID";
constexpr const char* kTorchAgent = "TORCHELASTIC_RUN_ID";
constexpr const char* kTorchAgents = "GROUP_WORLD_SIZE";

// Slurm numbers the shell of an allocation, its batch script and the like from here on: no steps with ranks.
constexpr int64_t kSlurmNoStep = 0xFFFFFFF0;
constexpr int64_t kMaxWorld = int64_t{1} << 40;
constexpr size_t kShownBytes = 60;  // of a value, in a message

template <typename Visit>
void visit_names(Visit visit) {
  for (const Family& family : kFamilies) {
    for (const Names& names : {family.rank, family.size, family.local_rank, family.local_size}) {
      for (const char* name : names) visit(name);
    }
  }
  for (const Names& names : {kSlurmStep, kSlurmNodes}) {
    for (const char* name : names) visit(name);
  }
  for (const char* name : {kSlurmTasksPerNode, kSlurmNode, kTorchAgent, kTorchAgents}) visit(name);
}

// A variable that is set.
struct Variable {
  const char* name;
  std::string_view value;
  std::string shown() const {
    if (value.size() <= kShownBytes) return concat(name, "=", value);
    return concat(name, "=", head_of(value, kShownBytes), "...");
  }
};

std::optional<Variable> find(const LauncherVariables& variables, const Names& names) {
  for (const char* name : names) {
    const std::string* value = name == nullptr ? nullptr : variables.find(name);
    if (value != nullptr) return Variable{name, *value};
  }
  return std::nullopt;
}

// Digits alone: a sign or a space says that the value was meant for something else.
Result<int64_t> number_of(const Variable& variable, int64_t least) {
  const bool digits =
      std::all_of(variable.value.begin(), variable.value.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::optional<int64_t> number = digits ? parse_i64(variable.value) : std::nullopt;
  if (number && *number >= least && *number <= kMaxWorld) return *number;
  return error(Code::kInvalidArgument, "environment: ", variable.shown(), ": expected a whole number from ",
               least, " to ", kMaxWorld);
}

// An optional number: -1 when the variable is not set.
Result<int64_t> number_if_set(const std::optional<Variable>& variable, int64_t least) {
  if (!variable) return -1;
  return number_of(*variable, least);
}

// Variables of Slurm are also in the shell of an allocation and in a batch script, which are no ranks.
Result<bool> in_slurm_step(const LauncherVariables& variables) {
  const std::optional<Variable> step = find(variables, kSlurmStep);
  if (!step) return false;
  DL_ASSIGN_OR_RETURN(const int64_t number, number_of(*step, 0));
  return number < kSlurmNoStep;
}

// Item `node` of "2(x3),1", which stands for 2,2,2,1; nothing when there is none or the text is another.
std::optional<int64_t> tasks_of_node(std::string_view text, int64_t node) {
  for (std::string_view item : split(text, ',')) {
    int64_t times = 1;
    if (const size_t open = item.find("(x"); open != std::string_view::npos && item.ends_with(')')) {
      times = parse_i64(item.substr(open + 2, item.size() - open - 3)).value_or(0);
      item = item.substr(0, open);
    }
    const std::optional<int64_t> tasks = parse_i64(item);
    if (!tasks || *tasks < 1 || times < 1) return std::nullopt;
    if (node < times) return tasks;
    node -= times;
  }
  return std::nullopt;
}

Result<int64_t> slurm_local_size(const LauncherVariables& variables) {
  const std::optional<Variable> tasks = find(variables, {kSlurmTasksPerNode});
  const std::optional<Variable> node = find(variables, {kSlurmNode});
  if (!tasks || !node) return -1;
  DL_ASSIGN_OR_RETURN(const int64_t number, number_of(*node, 0));
  const std::optional<int64_t> found = tasks_of_node(tasks->value, number);
  if (found) return *found;
  return error(Code::kInvalidArgument, "environment: ", tasks->shown(), " ", node->shown(),
               ": expected the tasks of each node, as in 2(x3),1");
}

Status check_local(const LauncherVariables& variables, const Family& family, const Launcher& launcher) {
  const bool rank_fits = launcher.local_rank < 0 || launcher.local_world_size < 0 ||
                         launcher.local_rank < launcher.local_world_size;
  const bool size_fits = launcher.local_world_size <= launcher.world_size || launcher.world_size < 0;
  if (rank_fits && size_fits) return Status::ok();
  std::string said = launcher.said;
  for (const Names& names : {family.local_rank, family.local_size, Names{kSlurmTasksPerNode}}) {
    if (const std::optional<Variable> variable = find(variables, names))
      said += concat(" ", variable->shown());
  }
  return error(Code::kInvalidArgument, "environment: ", said, " (", family.name, "): ",
               rank_fits ? "more processes on this machine than in the job"
                         : "expected a local rank below the local size");
}

// What a family says, if it is there.
Result<std::optional<Launcher>> read_family(const LauncherVariables& variables, const Family& family) {
  const std::optional<Variable> rank = find(variables, family.rank), size = find(variables, family.size);
  const bool has_size = family.size[0] != nullptr;
  if (!rank && !size) return std::optional<Launcher>();
  if (has_size && (!rank || !size)) {
    return error(Code::kInvalidArgument, "environment: ", (rank ? *rank : *size).shown(), " is set, ",
                 rank ? family.size[0] : family.rank[0], " is not (", family.name,
                 "): set both or neither, or set rank and world_size to numbers");
  }
  Launcher launcher;
  launcher.family = family.name;
  launcher.said = rank->shown() + (size ? " " + size->shown() : "");
  DL_ASSIGN_OR_RETURN(launcher.rank, number_of(*rank, 0));
  DL_ASSIGN_OR_RETURN(launcher.world_size, number_if_set(size, 1));
  DL_ASSIGN_OR_RETURN(launcher.local_rank, number_if_set(find(variables, family.local_rank), 0));
  DL_ASSIGN_OR_RETURN(launcher.local_world_size, number_if_set(find(variables, family.local_size), 1));
  if (size && launcher.rank >= launcher.world_size) {
    return error(Code::kInvalidArgument, "environment: ", launcher.said, " (", family.name,
                 "): expected a rank below the size");
  }
  return std::optional<Launcher>(std::move(launcher));
}

// Whether `outer` only carries the launcher inside: its processes are agents, one a machine, that start the ranks. Then the
// two count different things.
Result<bool> carries(const LauncherVariables& variables, const Launcher& outer, const Launcher& inner) {
  const std::optional<Variable> nodes = find(variables, kSlurmNodes),
                                agents = find(variables, {kTorchAgents});
  if (std::string_view(outer.family) == "slurm" && nodes) {
    DL_ASSIGN_OR_RETURN(const int64_t count, number_of(*nodes, 1));
    if (count == outer.world_size) return true;
  }
  if (std::string_view(inner.family) != "torchrun" || variables.find(kTorchAgent) == nullptr || !agents)
    return false;
  DL_ASSIGN_OR_RETURN(const int64_t count, number_of(*agents, 1));
  return count == outer.world_size;
}

// Those that tell rank and size, innermost first.
Result<std::vector<Launcher>> complete_launchers(const LauncherVariables& variables) {
  std::vector<Launcher> found;
  DL_ASSIGN_OR_RETURN(const bool step, in_slurm_step(variables));
  for (const Family& family : kFamilies) {
    const bool is_slurm = std::string_view(family.name) == "slurm";
    if (family.size[0] == nullptr || (is_slurm && !step)) continue;
    DL_ASSIGN_OR_RETURN(std::optional<Launcher> launcher, read_family(variables, family));
    if (!launcher) continue;
    if (is_slurm) {
      DL_ASSIGN_OR_RETURN(launcher->local_world_size, slurm_local_size(variables));
    }
    DL_RETURN_IF_ERROR(check_local(variables, family, *launcher));
    found.push_back(*std::move(launcher));
  }
  return found;
}

}  // namespace

LauncherVariables::LauncherVariables(const char* const* environment) : given_(true) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    visit_names([&](const char* name) {
      if (name != nullptr && entry.substr(0, equals) == name && find(name) == nullptr) {
        values_.emplace_back(name, entry.substr(equals + 1));
      }
    });
  }
}

const std::string* LauncherVariables::find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return &value;
  }
  return nullptr;
}

Result<Launcher> detect_launcher(const LauncherVariables& variables) {
  DL_ASSIGN_OR_RETURN(std::vector<Launcher> found, complete_launchers(variables));
  for (size_t at = 1; at < found.size(); ++at) {
    Launcher& inner = found[0];
    const Launcher& outer = found[at];
    if (inner.rank == outer.rank && inner.world_size == outer.world_size) {
      if (inner.local_rank < 0) inner.local_rank = outer.local_rank;
      if (inner.local_world_size < 0) inner.local_world_size = outer.local_world_size;
      continue;
    }
    DL_ASSIGN_OR_RETURN(const bool carried, carries(variables, outer, inner));
    if (carried) continue;
    return error(Code::kInvalidArgument, "environment: ", inner.said, " (", inner.family, ") and ",
                 outer.said, " (", outer.family,
                 ") contradict each other: unset one, or set rank and world_size to numbers");
  }
  if (!found.empty()) return std::move(found[0]);
  for (const Family& family : kFamilies) {
    if (family.size[0] != nullptr) continue;
    DL_ASSIGN_OR_RETURN(std::optional<Launcher> launcher, read_family(variables, family));
    if (launcher) return *std::move(launcher);
  }
  return Launcher();
}

Result<Ranks> resolve_ranks(Ranks asked, const LauncherVariables& variables) {
  if (asked.rank != kAutoRank && asked.world_size != kAutoRank) return asked;
  const bool rank_is_auto = asked.rank == kAutoRank;
  if (!variables.given()) {
    return error(Code::kBadOption, "option ", rank_is_auto ? "rank" : "world_size",
                 ": auto needs the environment, which the library does not read: pass it to "
                 "dl_options_set_environment");
  }
  DL_ASSIGN_OR_RETURN(const Launcher launcher, detect_launcher(variables));
  const std::string said = launcher.said.empty()
                               ? "the environment names no launcher, so this is process 0 of 1"
                               : concat("the environment has ", launcher.said, " (", launcher.family, ")");
  Ranks found = asked;
  if (rank_is_auto) found.rank = launcher.rank;
  if (asked.world_size == kAutoRank) found.world_size = launcher.world_size;
  if (found.world_size < 0) {
    return error(Code::kBadOption, "option world_size: ", said,
                 ", which has only the rank: set world_size to a number");
  }
  if (found.rank != launcher.rank) {
    return error(Code::kBadOption, "options rank and world_size: rank is ", found.rank,
                 ", world_size is auto, and ", said, ": set both to numbers");
  }
  if (launcher.world_size >= 0 && found.world_size != launcher.world_size) {
    return error(Code::kBadOption, "options rank and world_size: rank is auto, world_size is ",
                 found.world_size, ", and ", said, ": set both to numbers");
  }
  return found;
}

}  // namespace dataline
