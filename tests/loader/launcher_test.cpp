// Ranks out of environments: as launchers set them (copied from real runs), and hostile ones. One table, hence its length.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/launcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dataline::launcher_test {
namespace {

using Environment = std::vector<const char*>;

LauncherVariables variables(Environment entries) {
  entries.push_back(nullptr);
  return LauncherVariables(entries.data());
}

struct Case {
  const char* name;
  Environment environment;
  const char* family;  // null: an error
  int64_t rank = 0, world_size = 0, local_rank = 0, local_world_size = 0;
  std::vector<const char*> words = {};  // of the error
};

Case refused(const char* name, Environment environment, std::vector<const char*> words) {
  return {name, std::move(environment), nullptr, 0, 0, 0, 0, std::move(words)};
}

// What was seen in processes of torchrun 1.13, mpirun (Open MPI 4.1.4) and srun 22.05, less addresses, names and paths.
const Environment kTorchrun = {"GROUP_RANK=1",
                               "GROUP_WORLD_SIZE=2",
                               "LOCAL_RANK=0",
                               "LOCAL_WORLD_SIZE=2",
                               "MASTER_ADDR=localhost",
                               "RANK=2",
                               "ROLE_RANK=2",
                               "ROLE_WORLD_SIZE=4",
                               "TORCHELASTIC_MAX_RESTARTS=0",
                               "TORCHELASTIC_RESTART_COUNT=0",
                               "TORCHELASTIC_RUN_ID=69b1",
                               "WORLD_SIZE=4"};
const Environment kMpirun = {
    "OMPI_COMMAND=python3",        "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
    "OMPI_COMM_WORLD_NODE_RANK=1", "OMPI_COMM_WORLD_RANK=1",       "OMPI_COMM_WORLD_SIZE=2",
    "OMPI_UNIVERSE_SIZE=8",        "PMIX_NAMESPACE=1943404545",    "PMIX_RANK=1"};
const Environment kSrun = {
    "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_STEPID=0",         "SLURM_PROCID=3",
    "SLURM_NTASKS=4", "SLURM_NPROCS=4",  "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2",
    "SLURM_NNODES=2", "SLURM_LOCALID=1", "SLURM_NODEID=1",         "SLURM_STEP_TASKS_PER_NODE=2(x2)"};
const Environment kSbatchScript = {
    "SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_LOCALID=0",           "SLURM_NODEID=0",
    "SLURM_NTASKS=4", "SLURM_NNODES=2", "SLURM_TASKS_PER_NODE=2(x2)"};

Environment join(Environment a, const Environment& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::string kHuge = "RANK=" + std::string(100'000, '9');

std::vector<Case> cases() {
  return {
      {"nothing", {}, "none", 0, 1, 0, 1},
      {"others' variables", {"PATH=/bin", "RANKS=3", "MY_RANK=1", "WORLD_SIZES=2"}, "none", 0, 1, 0, 1},
      {"entries without a value", {"RANK", "=", "", "WORLD_SIZE"}, "none", 0, 1, 0, 1},
      {"torchrun", kTorchrun, "torchrun", 2, 4, 0, 2},
      {"mpirun", kMpirun, "openmpi", 1, 2, 1, 2},
      {"srun", kSrun, "slurm", 3, 4, 1, 2},
      {"a pair by hand", {"RANK=0", "WORLD_SIZE=1"}, "torchrun", 0, 1, -1, -1},
      {"Kubeflow's PyTorchJob",
       {"RANK=1", "WORLD_SIZE=3", "MASTER_ADDR=job-master-0", "PET_NNODES=3"},
       "torchrun",
       1,
       3,
       -1,
       -1},
      {"leading zeros", {"RANK=007", "WORLD_SIZE=08"}, "torchrun", 7, 8, -1, -1},
      {"of two the first, as getenv", {"RANK=1", "RANK=9", "WORLD_SIZE=2"}, "torchrun", 1, 2, -1, -1},
      {"JAX",
       {"JAX_PROCESS_ID=1", "JAX_NUM_PROCESSES=2", "JAX_COORDINATOR_ADDRESS=a:1"},
       "jax",
       1,
       2,
       -1,
       -1},
      {"MPICH's hydra",
       {"PMI_RANK=2", "PMI_SIZE=3", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1", "PMI_FD=9"},
       "pmi",
       2,
       3,
       0,
       1},
      {"MVAPICH",
       {"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2", "MV2_COMM_WORLD_LOCAL_RANK=1",
        "MV2_COMM_WORLD_LOCAL_SIZE=2"},
       "pmi",
       1,
       2,
       1,
       2},
      {"Slurm's PMI2 beside its own", join(kSrun, {"PMI_RANK=3", "PMI_SIZE=4"}), "pmi", 3, 4, 1, 2},
      {"Slurm's PMIx beside its own", join(kSrun, {"PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.7.0"}), "slurm",
       3, 4, 1, 2},
      {"PMIx tells the rank only", {"PMIX_RANK=5", "PMIX_NAMESPACE=x"}, "pmix", 5, -1, -1, -1},
      {"an indexed job of Kubernetes too", {"JOB_COMPLETION_INDEX=2"}, "kubernetes", 2, -1, -1, -1},
      {"torchrun in such a job", join(kTorchrun, {"JOB_COMPLETION_INDEX=1"}), "torchrun", 2, 4, 0, 2},
      {"a batch script is no step", kSbatchScript, "none", 0, 1, 0, 1},
      {"nor the shell of an allocation", join(kSbatchScript, {"SLURM_STEP_ID=4294967290"}), "none", 0, 1, 0,
       1},
      {"a step by its old name",
       {"SLURM_STEPID=1", "SLURM_PROCID=1", "SLURM_NTASKS=2"},
       "slurm",
       1,
       2,
       -1,
       -1},
      {"the step's tasks, not the job's",
       {"SLURM_STEP_ID=1", "SLURM_PROCID=1", "SLURM_NTASKS=8", "SLURM_STEP_NUM_TASKS=2"},
       "slurm",
       1,
       2,
       -1,
       -1},
      {"uneven nodes",
       {"SLURM_STEP_ID=1", "SLURM_PROCID=6", "SLURM_STEP_NUM_TASKS=7", "SLURM_NODEID=3",
        "SLURM_STEP_TASKS_PER_NODE=2(x3),1"},
       "slurm",
       6,
       7,
       -1,
       1},
      {"torchrun in a Slurm step of a task a node",
       join(kTorchrun,
            {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=2"}),
       "torchrun", 2, 4, 0, 2},
      {"the same with fewer agents than nodes",
       join(kTorchrun,
            {"SLURM_STEP_ID=0", "SLURM_PROCID=4", "SLURM_STEP_NUM_TASKS=5", "SLURM_STEP_NUM_NODES=5"}),
       "torchrun", 2, 4, 0, 2},
      {"agents that share a node",
       join(kTorchrun,
            {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=1"}),
       "torchrun", 2, 4, 0, 2},
      {"agents started by mpirun", join(kTorchrun, kMpirun), "torchrun", 2, 4, 0, 2},
      {"mpirun in a Slurm job: its daemons are a step",
       join(kMpirun,
            {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "SLURM_STEP_NUM_NODES=1"}),
       "openmpi", 1, 2, 1, 2},
      {"two that agree",
       {"RANK=1", "WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"},
       "torchrun",
       1,
       2,
       -1,
       -1},
      {"the largest",
       {"RANK=1099511627775", "WORLD_SIZE=1099511627776"},
       "torchrun",
       1099511627775,
       1099511627776,
       -1,
       -1},

      refused("a rank without a size", {"RANK=1"}, {"RANK=1 is set, WORLD_SIZE is not", "torchrun"}),
      refused("a size without a rank", {"WORLD_SIZE=8"}, {"WORLD_SIZE=8 is set, RANK is not"}),
      refused("half a set beside a whole one", join(kMpirun, {"WORLD_SIZE=2"}),
              {"WORLD_SIZE=2 is set, RANK is not"}),
      refused("half of Open MPI's", {"OMPI_COMM_WORLD_SIZE=2"},
              {"OMPI_COMM_WORLD_SIZE=2 is set, OMPI_COMM_WORLD_RANK is not"}),
      refused("half of PMI's", {"PMI_RANK=0"}, {"PMI_RANK=0 is set, PMI_SIZE is not"}),
      refused("half of JAX's", {"JAX_PROCESS_ID=0"}, {"JAX_PROCESS_ID=0 is set, JAX_NUM_PROCESSES is not"}),
      refused("half of a step's", {"SLURM_STEP_ID=0", "SLURM_PROCID=0"},
              {"SLURM_PROCID=0 is set, SLURM_STEP_NUM_TASKS is not"}),
      refused("a word", {"RANK=abc", "WORLD_SIZE=2"}, {"RANK=abc", "expected a whole number from 0"}),
      refused("a negative rank", {"RANK=-1", "WORLD_SIZE=2"}, {"RANK=-1"}),
      refused("a plus", {"RANK=+1", "WORLD_SIZE=2"}, {"RANK=+1"}),
      refused("a fraction", {"RANK=1.0", "WORLD_SIZE=2"}, {"RANK=1.0"}),
      refused("hexadecimal", {"RANK=0x1", "WORLD_SIZE=2"}, {"RANK=0x1"}),
      refused("an empty rank", {"RANK=", "WORLD_SIZE=2"}, {"RANK=: expected"}),
      refused("an empty size", {"RANK=0", "WORLD_SIZE="}, {"WORLD_SIZE=: expected"}),
      refused("a space before", {"RANK= 1", "WORLD_SIZE=2"}, {"RANK= 1"}),
      refused("a line end behind", {"RANK=1\n", "WORLD_SIZE=2"}, {"RANK=1"}),
      refused("no rank of the size", {"RANK=2", "WORLD_SIZE=2"}, {"RANK=2 WORLD_SIZE=2", "below the size"}),
      refused("a size of zero", {"RANK=0", "WORLD_SIZE=0"}, {"WORLD_SIZE=0", "from 1"}),
      refused("past 64 bits", {"RANK=0", "WORLD_SIZE=18446744073709551617"},
              {"WORLD_SIZE=18446744073709551617"}),
      refused("past the largest", {"RANK=0", "WORLD_SIZE=1099511627777"}, {"to 1099511627776"}),
      refused("a huge value", {kHuge.c_str(), "WORLD_SIZE=2"}, {"RANK=999", "...: expected"}),
      refused("a local rank that is none", {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=x"}, {"LOCAL_RANK=x"}),
      refused("a local rank past the local size",
              {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2"},
              {"LOCAL_RANK=2 LOCAL_WORLD_SIZE=2", "expected a local rank below"}),
      refused("more here than in all", {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=4"},
              {"LOCAL_WORLD_SIZE=4", "more processes on this machine"}),
      refused("two sizes", {"RANK=0", "WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4"},
              {"RANK=0 WORLD_SIZE=2 (torchrun)", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 (openmpi)",
               "contradict"}),
      refused("two ranks", {"PMI_RANK=0", "PMI_SIZE=2", "JAX_PROCESS_ID=1", "JAX_NUM_PROCESSES=2"},
              {"PMI_RANK=0", "JAX_PROCESS_ID=1", "contradict"}),
      refused("a whole job in each task of a Slurm step",
              join(kSrun, {"RANK=0", "WORLD_SIZE=4", "TORCHELASTIC_RUN_ID=1", "GROUP_WORLD_SIZE=1"}),
              {"RANK=0 WORLD_SIZE=4 (torchrun)", "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 (slurm)"}),
      refused("a rank exported by the batch script", join(kSrun, {"RANK=0", "WORLD_SIZE=4"}), {"contradict"}),
      refused("a step that is no number", join({"SLURM_STEP_ID=batch"}, kSbatchScript),
              {"SLURM_STEP_ID=batch"}),
      refused("tasks of nodes that are none",
              {"SLURM_STEP_ID=1", "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_NODEID=0",
               "SLURM_STEP_TASKS_PER_NODE=2(x"},
              {"SLURM_STEP_TASKS_PER_NODE=2(x"}),
      refused("fewer nodes than this one",
              {"SLURM_STEP_ID=1", "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_NODEID=4",
               "SLURM_STEP_TASKS_PER_NODE=1(x2)"},
              {"SLURM_NODEID=4"}),
      refused("nodes without a task",
              {"SLURM_STEP_ID=1", "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_NODEID=0",
               "SLURM_STEP_TASKS_PER_NODE=0"},
              {"SLURM_STEP_TASKS_PER_NODE=0"}),
      refused("PMIx's rank that is none", {"PMIX_RANK=-2"}, {"PMIX_RANK=-2"}),
      refused("an index that is none", {"JOB_COMPLETION_INDEX=a"}, {"JOB_COMPLETION_INDEX=a"}),
  };
}

TEST(Launcher, EachEnvironmentGivesItsRankOrAnErrorThatNamesItsVariables) {
  const std::vector<Case> table = cases();
  RecordProperty("cases", static_cast<int>(table.size()));
  EXPECT_GE(table.size(), 60u);
  for (const Case& one : table) {
    SCOPED_TRACE(one.name);
    Result<Launcher> found = detect_launcher(variables(one.environment));
    if (one.family == nullptr) {
      ASSERT_FALSE(found.is_ok());
      EXPECT_EQ(found.status().code(), Code::kInvalidArgument);
      EXPECT_LT(found.status().text().size(), 512u);
      for (const char* word : one.words) {
        EXPECT_NE(found.status().message().find(word), std::string::npos) << found.status().text();
      }
      continue;
    }
    ASSERT_TRUE(found.is_ok()) << found.status().text();
    const Launcher& launcher = found.value();
    EXPECT_STREQ(launcher.family, one.family);
    EXPECT_EQ(launcher.rank, one.rank);
    EXPECT_EQ(launcher.world_size, one.world_size);
    EXPECT_EQ(launcher.local_rank, one.local_rank);
    EXPECT_EQ(launcher.local_world_size, one.local_world_size);
  }
}

// What becomes of the options: rank and world_size, -1 for auto.
struct Asked {
  const char* name;
  Ranks asked;
  Environment environment;
  Ranks found;
  const char* word = nullptr;  // of the error
};

TEST(Launcher, ANumberBesideAutoHasToBeTheLaunchersOrStandsForWhatItDoesNotSay) {
  const Environment two = {"RANK=1", "WORLD_SIZE=2"};
  const std::vector<Asked> table = {
      {"numbers ask nobody", {3, 4}, {"RANK=x"}, {3, 4}},
      {"both", {kAutoRank, kAutoRank}, two, {1, 2}},
      {"alone", {kAutoRank, kAutoRank}, {}, {0, 1}},
      {"the same size", {kAutoRank, 2}, two, {1, 2}},
      {"the same rank", {1, kAutoRank}, two, {1, 2}},
      {"the size that PMIx does not say", {kAutoRank, 8}, {"PMIX_RANK=5"}, {5, 8}},
      {"the size of an indexed job", {kAutoRank, 3}, {"JOB_COMPLETION_INDEX=2"}, {2, 3}},
      {"alone, said by number", {kAutoRank, 1}, {}, {0, 1}},
      {"another size",
       {kAutoRank, 3},
       two,
       {},
       "world_size is 3, and the environment has RANK=1 WORLD_SIZE=2 (torchrun)"},
      {"another rank",
       {0, kAutoRank},
       two,
       {},
       "rank is 0, world_size is auto, and the environment has RANK=1"},
      {"a size that nobody says",
       {kAutoRank, kAutoRank},
       {"PMIX_RANK=5"},
       {},
       "PMIX_RANK=5 (pmix), which has only the rank"},
      {"one of many without a launcher", {kAutoRank, 4}, {}, {}, "names no launcher"},
      {"a wrong environment", {kAutoRank, kAutoRank}, {"RANK=1"}, {}, "WORLD_SIZE is not"},
  };
  for (const Asked& one : table) {
    SCOPED_TRACE(one.name);
    Result<Ranks> found = resolve_ranks(one.asked, variables(one.environment));
    if (one.word != nullptr) {
      ASSERT_FALSE(found.is_ok());
      EXPECT_NE(found.status().message().find(one.word), std::string::npos) << found.status().text();
      continue;
    }
    ASSERT_TRUE(found.is_ok()) << found.status().text();
    EXPECT_EQ(found.value().rank, one.found.rank);
    EXPECT_EQ(found.value().world_size, one.found.world_size);
  }
}

TEST(Launcher, AutoWithoutAnEnvironmentIsAnErrorThatNamesTheCall) {
  Result<Ranks> found = resolve_ranks({kAutoRank, kAutoRank}, LauncherVariables());
  ASSERT_FALSE(found.is_ok());
  EXPECT_EQ(found.status().code(), Code::kBadOption);
  EXPECT_NE(found.status().message().find("dl_options_set_environment"), std::string::npos);
}

}  // namespace
}  // namespace dataline::launcher_test
