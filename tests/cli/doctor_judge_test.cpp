// The judgement of `doctor` on made-up measurements.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "bindings/cli/doctor/judge.h"

namespace dataline::cli::doctor_judge_test {
namespace {

// A loader of one worker on two CPUs that makes 100 samples/s, and a consumer that waits for it half of its time.
Findings one_worker() {
  Findings findings;
  findings.asked = {
      .name = "as asked", .samples_per_s = 100, .wait_share = 0.5, .step_ms = 5, .workers_busy = 0.98};
  findings.asked.num_workers = 1;
  findings.no_consumer = findings.asked;
  findings.machine = {.cpus = 2, .cores = 2};
  findings.max_leases = 4;
  return findings;
}

Trial trial(const char* option, const char* value, const char* now, double samples_per_s) {
  return {option, value, now, {.name = option, .samples_per_s = samples_per_s}};
}

TEST(DoctorJudge, MoreWorkersThatAreFasterAreTheChangeWithTheirMeasuredGain) {
  Findings findings = one_worker();
  findings.trials = {trial("num_workers", "2", "1", 190), trial("prefetch_depth", "8", "4", 101)};
  const Verdict verdict = judge(findings);
  EXPECT_EQ(verdict.cause, "too_few_workers");
  ASSERT_TRUE(verdict.change);
  EXPECT_EQ(verdict.change->option, "num_workers");
  EXPECT_EQ(verdict.change->value, "2");
  EXPECT_DOUBLE_EQ(verdict.predicted_gain, 1.9);
  EXPECT_NE(verdict.text.find("num_workers=2 (now 1): predicted 1.90x"), std::string::npos) << verdict.text;
}

TEST(DoctorJudge, OfTrialsAboutAsFastTheOneThatNeedsLeastWins) {
  Findings findings = one_worker();
  findings.trials = {trial("num_workers", "2", "1", 195), trial("num_workers", "8", "1", 200)};
  EXPECT_EQ(judge(findings).change->value, "2");
}

TEST(DoctorJudge, FewerWorkersThatAreFasterAreTooManyWorkers) {
  Findings findings = one_worker();
  findings.asked.num_workers = 16;
  findings.trials = {trial("num_workers", "2", "16", 130)};
  EXPECT_EQ(judge(findings).cause, "too_many_workers");
}

TEST(DoctorJudge, ATrialWithinTheNoiseIsNoChange) {
  Findings findings = one_worker();
  findings.asked.workers_busy = 0.5;
  findings.trials = {trial("num_workers", "2", "1", 107)};
  const Verdict verdict = judge(findings);
  EXPECT_EQ(verdict.cause, "balanced");
  EXPECT_FALSE(verdict.change);
}

TEST(DoctorJudge, AConsumerThatNeverWaitsIsTheLimitWhateverATrialGave) {
  Findings findings = one_worker();
  findings.asked.wait_share = 0.001;
  findings.trials = {trial("num_workers", "2", "1", 150)};
  EXPECT_EQ(judge(findings).cause, "consumer");
  EXPECT_FALSE(judge(findings).change);
}

TEST(DoctorJudge, MoreBatchesInFlightAreADepthUnlessSamplesAreUneven) {
  Findings findings = one_worker();
  findings.trials = {trial("prefetch_depth", "8", "1", 140)};
  EXPECT_EQ(judge(findings).cause, "prefetch_depth");
  findings.asked.uneven = 20;
  EXPECT_EQ(judge(findings).cause, "uneven_samples");
  EXPECT_NE(judge(findings).text.find("20 times"), std::string::npos);
}

TEST(DoctorJudge, AFewSlowSamplesThatP99MissesAreUnevenByTheTimeThatTheyTake) {
  Findings findings = one_worker();
  findings.asked.mean_to_middle = 2.5;
  findings.asked.longest_to_middle = 140;
  EXPECT_EQ(judge(findings).cause, "uneven_samples");
  EXPECT_NE(judge(findings).text.find("take 60 % of the time, the longest 140 times"), std::string::npos);
  findings.asked.mean_to_middle = 1.2;
  EXPECT_NE(judge(findings).cause, "uneven_samples");
}

TEST(DoctorJudge, WorkersThatWaitForFilesAreStorage) {
  Findings findings = one_worker();
  findings.asked.storage_share = 0.9;
  EXPECT_EQ(judge(findings).cause, "storage");
  EXPECT_FALSE(judge(findings).change);
  findings.trials = {trial("num_workers", "8", "1", 700)};
  EXPECT_EQ(judge(findings).cause, "storage");
  EXPECT_EQ(judge(findings).change->value, "8");
}

TEST(DoctorJudge, WorkersThatGetNoCpuAreContendedUnlessTheyUseAllOfThem) {
  Findings findings = one_worker();
  findings.trials = {trial("num_workers", "2", "1", 190)};
  findings.asked.no_cpu_share = 0.9;
  findings.asked.workers_busy = 0.1;
  EXPECT_EQ(judge(findings).cause, "cpu_contended");
  EXPECT_FALSE(judge(findings).change);
  findings.asked.num_workers = 16;
  findings.asked.workers_busy = 1.9;
  EXPECT_EQ(judge(findings).cause, "too_many_workers");
}

TEST(DoctorJudge, SamplesThatAreFasterInMemoryAreStorage) {
  Findings findings = one_worker();
  findings.no_consumer->storage_share = 0.2;
  findings.in_memory = cli::Run{.samples_per_s = 129};
  EXPECT_NE(judge(findings).cause, "storage");
  findings.in_memory->samples_per_s = 131;
  EXPECT_EQ(judge(findings).cause, "storage");
  findings.no_consumer->storage_share = 0.1;
  EXPECT_NE(judge(findings).cause, "storage") << "the few are easier: hardly any time is spent waiting";
}

TEST(DoctorJudge, StorageIsToldWithWhatItGivesAloneAndWhatIsNeeded) {
  Findings findings = one_worker();
  findings.asked.storage_share = 0.9;
  findings.asked.workers_busy = 0.1;
  findings.asked.read_bytes_per_s = 18e6;
  findings.asked.samples_a_step = 2;
  findings.storage = BareReads{
      .random_bytes_per_s = 20e6, .sequential_bytes_per_s = 40e6, .piece_bytes = 180'000, .threads = 16};
  std::string text = judge(findings).text;  // 2 samples of 180 kB in 5 ms
  for (const char* part : {"the loader gets 100 samples/s, 18.0 MB/s", "the consumer needs 72.0 MB/s",
                           "storage alone delivers 20.0 MB/s at random", "40.0 MB/s in file order"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  findings.asked.step_ms = 0;
  findings.no_consumer.reset();
  text = judge(findings).text;  // 2 CPUs, of which 0.1 did it
  EXPECT_NE(text.find("the CPUs could use 360 MB/s"), std::string::npos) << text;
}

TEST(DoctorJudge, AGainThatWasMeasuredAgainReplacesTheLuckOfTheTrial) {
  Findings findings = one_worker();
  findings.trials = {trial("num_workers", "2", "1", 190), trial("prefetch_depth", "8", "4", 150)};
  findings.trials[0].confirmed = 1.7;
  EXPECT_DOUBLE_EQ(judge(findings).predicted_gain, 1.7);
  findings.trials[0].confirmed = 1.02;
  EXPECT_EQ(judge(findings).change->option, "prefetch_depth");
  findings.trials[1].confirmed = 0.99;
  EXPECT_FALSE(judge(findings).change);
}

TEST(DoctorJudge, AGainThatVariesFromPairToPairIsToldAndNotPromised) {
  Findings findings = one_worker();
  findings.asked.storage_share = 0.9;
  findings.trials = {trial("num_workers", "8", "1", 190)};
  findings.trials[0].confirmed = 1.8;
  findings.trials[0].varies = true;
  findings.trials[0].least = 1.2, findings.trials[0].most = 2.1;
  EXPECT_EQ(judge(findings).cause, "storage");
  EXPECT_FALSE(judge(findings).change);
  EXPECT_NE(judge(findings).text.find("num_workers=8 reached 1.2 to 2.10x"), std::string::npos);
}

TEST(DoctorJudge, AQuotaThatIsUsedUpComesBeforeTheNumberOfWorkers) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 0.48;
  findings.machine = {.cpus = 0.5, .quota_cpus = 0.5, .cores = 2};
  findings.trials = {trial("num_workers", "1", "2", 112)};
  EXPECT_EQ(judge(findings).cause, "cpu_quota");
  findings.asked.workers_busy = 0.2;
  EXPECT_EQ(judge(findings).cause, "too_many_workers");
}

TEST(DoctorJudge, ABudgetBelowTheLeastIsTheFirstThingToChange) {
  Findings findings;
  findings.over_budget = "memory_budget=1024, the plan needs at least 2048";
  const Verdict verdict = judge(findings);
  EXPECT_EQ(verdict.cause, "memory_budget");
  EXPECT_EQ(verdict.change->option, "memory_budget");
  EXPECT_NE(verdict.text.find("2048"), std::string::npos);
}

TEST(DoctorJudge, LeasesHeldPinningAndQuotaAreNamedWithTheirNumbers) {
  Findings findings = one_worker();
  findings.asked.lease_copies = 10;
  findings.consumer_holds = 8;
  EXPECT_EQ(judge(findings).cause, "leases_held");
  EXPECT_EQ(judge(findings).change->value, "8");

  findings = one_worker();
  findings.asked_to_pin = true;
  findings.machine.memlock_bytes = 65536;
  findings.pin_warning = "pin_memory: slots are not page-locked: no CUDA driver";
  EXPECT_EQ(judge(findings).cause, "pin_refused");
  EXPECT_EQ(judge(findings).text, findings.pin_warning) << "a limit that nobody came to is not the reason";
  findings.pin_warning = "page-locked 0 of 8 slots of 4096 bytes";
  EXPECT_EQ(judge(findings).cause, "pin_refused");
  EXPECT_NE(judge(findings).text.find("RLIMIT_MEMLOCK is 65.5 kB"), std::string::npos)
      << judge(findings).text;

  findings = one_worker();
  findings.machine = {.cpus = 0.5, .quota_cpus = 0.5, .cores = 2};
  EXPECT_EQ(judge(findings).cause, "cpu_quota");
}

TEST(DoctorJudge, WithAllCpusBusyTheHeaviestOperatorOrTheImagesAreNamed) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 1.9;
  EXPECT_EQ(judge(findings).cause, "cpu");
  findings.asked.heaviest = "image: gaussian_blur(9)";
  findings.asked.heaviest_share = 0.3;
  EXPECT_EQ(judge(findings).cause, "cpu") << "no stage takes most of the time";
  findings.asked.heaviest_share = 0.8;
  EXPECT_EQ(judge(findings).cause, "transform");
  EXPECT_EQ(judge(findings).text.find("'image: gaussian_blur(9)' takes 80 %"), 0u);
  findings.images = ImageSize{4000, 3000, 224};
  EXPECT_EQ(judge(findings).cause, "transform") << "decoding is not what takes the time";
  findings.asked.heaviest = "image: decode";
  EXPECT_EQ(judge(findings).cause, "large_images");
  EXPECT_NE(judge(findings).text.find("4000 wide, 3000 high, delivered as 224"), std::string::npos);
}

TEST(DoctorJudge, WorkersThatRestBesideAConsumerDoNotUseTheCpus) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 0.8;
  EXPECT_EQ(judge(findings).cause, "balanced");
  findings.asked.workers_busy = 1.2;
  EXPECT_EQ(judge(findings).cause, "cpu");
}

TEST(DoctorJudge, SamplesThatAreCopiedAsFastAsMemoryGoesAreItsBandwidth) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 1.9;
  findings.asked.delivered_bytes_per_s = 16e9;
  findings.machine.memcpy_bytes_per_s = 18e9;
  EXPECT_EQ(judge(findings).cause, "memory_bandwidth");
  findings.asked.delivered_bytes_per_s = 2e9;
  EXPECT_EQ(judge(findings).cause, "cpu");
}

TEST(DoctorJudge, MoreWorkersThanCpusAreTooManyIfFewerDoAsWell) {
  Findings findings = one_worker();
  findings.machine.cpus = 2;
  findings.asked.num_workers = 8;
  findings.asked.workers_busy = 2;
  findings.asked.uneven = 20;
  findings.trials = {trial("num_workers", "1", "8", 60), trial("num_workers", "2", "8", 99)};
  EXPECT_EQ(judge(findings).cause, "too_many_workers");
  EXPECT_EQ(judge(findings).change->value, "2");
  findings.trials[1].run.samples_per_s = 80;
  EXPECT_NE(judge(findings).cause, "too_many_workers") << "fewer are slower";
  EXPECT_NE(judge(findings).cause, "uneven_samples") << "threads take turns";
}

TEST(DoctorJudge, MoreWorkersThanCpusAreAdvisedOnlyWhereTheyWaitForStorage) {
  Findings findings = one_worker();
  findings.machine.cpus = 2;
  findings.trials = {trial("num_workers", "2", "1", 180), trial("num_workers", "8", "1", 300)};
  EXPECT_EQ(judge(findings).change->value, "2");
  findings.asked.storage_share = 0.9;
  EXPECT_EQ(judge(findings).change->value, "8");
  EXPECT_EQ(judge(findings).cause, "storage");
}

TEST(DoctorJudge, ReadingThatNeedsTheCpuIsStorageThatWantsToBePacked) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 1.9;
  findings.asked.heaviest = "read";
  findings.asked.heaviest_share = 0.7;
  findings.asked.read_bytes_per_s = 20'000;
  EXPECT_EQ(judge(findings).cause, "storage");
  EXPECT_NE(judge(findings).text.find("100 samples/s of 200 B; pack"), std::string::npos);
}

TEST(DoctorJudge, AConsumerThatComputesIsNoOtherProgram) {
  Findings findings = one_worker();
  findings.asked.num_workers = 2;
  findings.asked.workers_busy = 1.1;
  findings.asked.wait_share = 0.2;
  findings.asked.no_cpu_share = 0.5;
  EXPECT_EQ(judge(findings).cause, "cpu_contended");
  findings.consumer_burns = true;
  EXPECT_EQ(judge(findings).cause, "cpu");
}

TEST(DoctorJudge, EveryCauseIsInTheTableOnce) {
  std::set<std::string> words;
  for (const Cause& cause : causes()) EXPECT_TRUE(words.insert(cause.word).second) << cause.word;
  EXPECT_EQ(words.size(), 16u);
}

}  // namespace
}  // namespace dataline::cli::doctor_judge_test
