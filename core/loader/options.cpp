// SPDX-License-Identifier: Apache-2.0
#include "core/loader/options.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxBatch = int64_t{1} << 40;
constexpr int64_t kMaxCount = 1'000'000;  // of slots, leases: far beyond use, far below overflow
constexpr int64_t kMaxWorkers = 4096;     // a slip must not start every thread there can be

using enum OptionType;

constexpr OptionInfo kOptions[] = {
    {Option::kBatchSize, "batch_size", kInt, kScopeLoader, "32", 1, kMaxBatch, "", "samples",
     "Samples in a batch of this rank, as in PyTorch."},
    {Option::kGlobalBatchSize, "global_batch_size", kInt, kScopeLoader, "", 1, kMaxBatch, "", "samples",
     "Samples in a step over all ranks; the stream is then the same for every world_size. Instead of "
     "batch_size."},
    {Option::kLastBatch, "last_batch", kWord, kScopeLoader, "keep", 1, 0, "keep|drop|pad", "",
     "The epoch's last step when it is short: keep it shorter, drop it, or pad it with the epoch's first "
     "samples."},
    {Option::kDropLast, "drop_last", kBool, kScopeLoader, "false", 0, 1, "", "",
     "PyTorch's name for last_batch=drop."},
    {Option::kShuffle, "shuffle", kWord, kScopeLoader, "none", 1, 0, "none|full|false|true", "",
     "Order of an epoch: none is file order, full a new permutation of all samples each epoch."},
    {Option::kSeed, "seed", kInt, kScopeLoader, "0", 0, kMax, "", "",
     "Fixes every order and augmentation, on any number of workers and ranks."},
    {Option::kEpochs, "epochs", kInt, kScopeLoader, "0", 0, kMax, "", "epochs",
     "Epochs of the whole job; 0: for ever."},
    {Option::kStartEpoch, "start_epoch", kInt, kScopeLoader, "0", 0, kMax, "", "epochs",
     "Epoch to begin with, counted from 0."},
    {Option::kStartStep, "start_step", kInt, kScopeLoader, "0", 0, kMax, "", "batches",
     "Step of that epoch to begin with, counted from 0."},
    {Option::kRank, "rank", kInt, kScopeLoader, "0", 0, kMax, "", "",
     "Which of world_size processes this is."},
    {Option::kWorldSize, "world_size", kInt, kScopeLoader, "1", 1, kMaxBatch, "", "ranks",
     "Processes that share each step."},
    {Option::kNumWorkers, "num_workers", kInt, kScopeLoader, "auto", -1, kMaxWorkers, "", "threads",
     "Worker threads. auto (-1): the CPUs this process is granted, less one for the trainer, at least 1, "
     "but 0 where there is one CPU and samples are only copied and converted; "
     "0: the thread that calls next does the work."},
    {Option::kPrefetchDepth, "prefetch_depth", kInt, kScopeLoader, "4", 1, kMaxCount, "", "batches",
     "Batches in flight ahead of the consumer, an epoch's at most."},
    {Option::kMaxLeases, "max_leases", kInt, kScopeLoader, "4", 1, kMaxCount, "", "batches",
     "Batches the consumer may hold in slots at once."},
    {Option::kLeaseOverflow, "lease_overflow", kWord, kScopeLoader, "copy", 1, 0, "copy|error|wait", "",
     "What next does beyond max_leases: deliver a copy, fail, or wait for a release."},
    {Option::kMemoryBudget, "memory_budget", kSize, kScopeBoth, "auto", -1, kMax, "", "bytes",
     "Limit for all host memory of the dataset, and of the loader. auto: what the plan needs, refused above "
     "half of "
     "what this process may use."},
    {Option::kMaxBytesPerSample, "max_bytes_per_sample", kSize, kScopeLoader, "1MiB", 1, kMaxBatch, "",
     "bytes",
     "Room for each sample of a ragged field; a larger sample is bad. Memory is taken by what samples need "
     "of it."},
    {Option::kMaxPixels, "max_pixels", kInt, kScopeLoader, "178956970", 1, kMaxBatch, "", "pixels",
     "An image of more pixels, by its header, is a bad sample; nothing of it is decoded."},
    {Option::kMaxScans, "max_scans", kInt, kScopeLoader, "100", 1, kMaxCount, "", "scans",
     "A progressive JPEG of more scans is a bad sample: each scan costs a pass over the whole image."},
    {Option::kMaxDecodedBytes, "max_decoded_bytes", kSize, kScopeLoader, "64MiB", 1, kMaxBatch, "", "bytes",
     "Room of each worker for one image on its way: its pixels and what its decoder holds. An image that "
     "needs more is a bad sample. Only where something is decoded."},
    {Option::kIo, "io", kWord, kScopeBoth, "auto", 1, 0, "auto|mmap|pread|memory|device", "",
     "How files are read: mapped, by pread (network mounts, files that others change), or held in memory. "
     "device: the loader holds the set in the memory of its device, where only sample indices are sent for "
     "each batch."},
    {Option::kFaultGuard, "fault_guard", kBool, kScopeDataset, "false", 0, 1, "", "",
     "Installs a SIGBUS handler for the mapped files of the dataset: one that is cut, or whose disk fails, "
     "while it is read "
     "gives an error where the process would end. See dl_dataset_open."},
    {Option::kOnError, "on_error", kWord, kScopeLoader, "raise", 1, 0, "raise|replace|quarantine", "",
     "A sample that cannot be delivered: raise an error, let another sample of the epoch stand in, or that "
     "and list it."},
    {Option::kOnWarning, "on_warning", kWord, kScopeLoader, "accept", 1, 0, "accept|error", "",
     "A JPEG in whose data libjpeg finds damage that it only warns of (wrong codes, data that ends early): "
     "deliver what it makes of it, as Pillow does, and count it, or take it for a bad sample."},
    {Option::kMaxBad, "max_bad", kInt, kScopeLoader, "-1", -1, kMax, "", "samples",
     "Distinct bad samples a job survives; -1: no limit."},
    {Option::kSampleIndices, "sample_indices", kIndices, kScopeLoader, "", 1, 0, "", "samples",
     "The caller's own order, the same each epoch. Not with shuffle or weights."},
    {Option::kWeights, "weights", OptionType::kWeights, kScopeLoader, "", 1, 0, "", "",
     "One weight a sample: draws as PyTorch's WeightedRandomSampler. Not with shuffle or sample_indices."},
    {Option::kReplacement, "replacement", kBool, kScopeLoader, "true", 0, 1, "", "",
     "Whether a weighted draw may repeat a sample."},
    {Option::kSamplesPerEpoch, "samples_per_epoch", kInt, kScopeLoader, "", 1, kMaxBatch, "", "samples",
     "Draws in an epoch, with weights only; when not set, as many as there are samples."},
    {Option::kTransform, "transform", kText, kScopeLoader, "", 1, 0, "", "",
     "What is done to each field, as in 'image: normalize(mnist), flatten; label: one_hot(10)'."},
    {Option::kPinMemory, "pin_memory", kBool, kScopeLoader, "false", 0, 1, "", "",
     "Page-locks the slots, for a consumer that copies cpu batches to a device itself; needs a CUDA driver. "
     "With device=cuda they always are."},
    {Option::kDevice, "device", kText, kScopeLoader, "cpu", 1, 0, "", "",
     "Where batches are delivered: cpu, or cuda:N, CUDA device N (cuda: device 0), whose driver is opened "
     "then."},
    {Option::kDeviceSync, "device_sync", kWord, kScopeLoader, "stream", 1, 0, "stream|host", "",
     "With device=cuda: stream lends batches while their copies are in flight, ordered by dl_batch_wait; "
     "host lends complete ones, for consumers that know no streams."},
    {Option::kCudaLibrary, "cuda_library", kText, kScopeLoader, "libcuda.so.1", 1, 0, "", "",
     "File of the CUDA driver. Only with device=cuda or pin_memory."},
};
static_assert(std::size(kOptions) == static_cast<size_t>(Option::kCount));

const OptionInfo& info(Option option) { return kOptions[static_cast<size_t>(option)]; }

bool has_range(const OptionInfo& entry) { return entry.minimum <= entry.maximum; }

// Integer meaning of a text, by the option's type; "auto" is -1 where that is the default.
std::optional<int64_t> parse_integer(const OptionInfo& entry, std::string_view text) {
  if (entry.type == kBool) {
    std::optional<bool> value = parse_bool(text);
    return value ? std::optional<int64_t>(*value) : std::nullopt;
  }
  if (text == "auto" && std::string_view(entry.default_value) == "auto") return -1;
  return entry.type == kSize ? parse_size(text) : parse_i64(text);
}

std::string expected_text(const OptionInfo& entry) {
  if (entry.type == kBool) return "true or false";
  if (entry.type == kWord) return concat("one of ", entry.choices);
  std::string what = entry.type == kSize ? "a size such as 64MiB" : "a whole number";
  if (!has_range(entry)) return what;
  what += concat(" from ", entry.minimum);
  if (entry.maximum < kMax) what += concat(" to ", entry.maximum);
  return what;
}

Status bad_value(const OptionInfo& entry, std::string_view got) {
  return error(Code::kBadOption, "option ", entry.key, ": expected ", expected_text(entry), ", got '", got,
               "'");
}

bool is_number(OptionType type) { return type == kBool || type == kInt || type == kSize; }

}  // namespace

std::span<const OptionInfo> option_table() { return kOptions; }

Result<Option> Options::find(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const OptionInfo& entry : kOptions) {
    if (key == entry.key) return entry.option;
    keys.push_back(entry.key);
  }
  return error(Code::kUnknownOption, "no option '", key, "'", did_you_mean(key, keys));
}

Status Options::set(std::string_view key, std::string_view text) {
  DL_ASSIGN_OR_RETURN(Option option, find(key));
  const OptionInfo& entry = info(option);
  Value value;
  value.set = true;
  if (is_number(entry.type)) {
    std::optional<int64_t> number = parse_integer(entry, text);
    if (!number || *number < entry.minimum || *number > entry.maximum) return bad_value(entry, text);
    value.integer = *number;
  } else if (entry.type == kWord) {
    std::vector<std::string_view> choices = split(entry.choices, '|');
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) return bad_value(entry, text);
    // shuffle takes PyTorch's booleans as well.
    value.text = text == "true" ? "full" : text == "false" ? "none" : text;
  } else if (entry.type == kText) {
    value.text = text;
  } else {
    return error(Code::kBadOption, "option ", key, ": expected an array, got text");
  }
  slot(option) = std::move(value);
  return Status::ok();
}

Status Options::set_i64(std::string_view key, int64_t number) {
  DL_ASSIGN_OR_RETURN(Option option, find(key));
  const OptionInfo& entry = info(option);
  if (option == Option::kShuffle && (number == 0 || number == 1))
    return set(key, number == 1 ? "full" : "none");
  if (!is_number(entry.type)) {
    return error(Code::kBadOption, "option ", key, ": expected ",
                 entry.type == kWord ? expected_text(entry) : std::string("text or an array"),
                 ", got a number");
  }
  if (number < entry.minimum || number > entry.maximum) return bad_value(entry, std::to_string(number));
  slot(option) = {.set = true, .integer = number, .text = {}};
  return Status::ok();
}

int64_t Options::integer(Option option) const {
  if (slot(option).set) return slot(option).integer;
  return parse_integer(info(option), info(option).default_value).value_or(-1);
}

std::string_view Options::text(Option option) const {
  return slot(option).set ? std::string_view(slot(option).text)
                          : std::string_view(info(option).default_value);
}

std::string Options::as_text(Option option) const {
  const OptionInfo& entry = info(option);
  if (!slot(option).set) return entry.default_value;
  if (!is_number(entry.type)) return slot(option).text;
  if (entry.type == kBool) return slot(option).integer != 0 ? "true" : "false";
  const bool automatic = slot(option).integer == -1 && std::string_view(entry.default_value) == "auto";
  return automatic ? "auto" : std::to_string(slot(option).integer);
}

}  // namespace dataline
