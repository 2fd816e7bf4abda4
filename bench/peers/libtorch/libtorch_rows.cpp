// LibTorch's torch::data on the rows that dataline_rows reads: get() with Stack, and a BatchDataset that calls
// index_select (a limit rather than a loader: the user's one call does all the loading).
//
// Speaks the protocol of dataline_rows.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/files.h"
#include "bench/end_to_end/measure.h"

namespace {

using bench::Report;
using bench::Throughput;

constexpr float kScale = 1.0f / (255.0f * 0.3081f);
constexpr float kBias = -0.1307f / 0.3081f;

struct Work {
  torch::Tensor rows;  // [n, row]
  int64_t batch_size = 256;
  bool normalize = false;
  bool windows = false;  // a row is length + 1 tokens, delivered as x and y
};

torch::Tensor convert(const Work& work, torch::Tensor rows) {
  return work.normalize ? rows.to(torch::kFloat32).mul_(kScale).add_(kBias) : rows;
}

class Rows : public torch::data::Dataset<Rows> {
 public:
  explicit Rows(Work work) : work_(std::move(work)) {}
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor row = work_.rows[static_cast<int64_t>(index)];
    if (!work_.windows) return {convert(work_, row), torch::Tensor(empty_)};
    const int64_t length = row.size(0) - 1;
    return {row.narrow(0, 0, length), row.narrow(0, 1, length)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(work_.rows.size(0)); }

 private:
  Work work_;
  torch::Tensor empty_ = torch::empty({0}, torch::kUInt8);
};

class Batches : public torch::data::BatchDataset<Batches, torch::Tensor> {
 public:
  explicit Batches(Work work) : work_(std::move(work)) {}
  torch::Tensor get_batch(c10::ArrayRef<size_t> indices) override {
    // The indices are not copied: size_t and int64_t have the same bits here.
    const auto chosen = torch::from_blob(const_cast<size_t*>(indices.data()),
                                         {static_cast<int64_t>(indices.size())}, torch::kInt64);
    return convert(work_, work_.rows.index_select(0, chosen));
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(work_.rows.size(0)); }

 private:
  Work work_;
};

const torch::Tensor& data_of(const torch::Tensor& batch) { return batch; }
const torch::Tensor& data_of(const torch::data::Example<>& batch) { return batch.data; }
int64_t bytes_of(const torch::Tensor& batch) { return static_cast<int64_t>(batch.nbytes()); }
int64_t bytes_of(const torch::data::Example<>& batch) {
  return static_cast<int64_t>(batch.data.nbytes() + batch.target.nbytes());
}

constexpr size_t kHugeBytes = size_t{1} << 28;

// An exact digest of each row: values below 2^16 times random weights below 2^26, the sum stays below 2^53.
std::vector<double> weighted(const torch::Tensor& rows, int64_t seed) {
  auto generator = torch::make_generator<torch::CPUGeneratorImpl>(static_cast<uint64_t>(seed));
  const torch::Tensor weights = torch::randint(1, 1 << 26, {rows.size(1)}, generator, torch::kFloat64);
  std::vector<double> out;
  for (const torch::Tensor& part : rows.split(4096)) {
    const torch::Tensor sums = part.to(torch::kFloat64).matmul(weights);
    out.insert(out.end(), sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel());
  }
  return out;
}

std::vector<double> digests_of(const Work& work, const torch::Tensor& rows) {
  return weighted(work.normalize ? (rows.to(torch::kFloat64) - kBias).div_(kScale).round_() : rows, 1);
}

// A window has one digest per half; the sample is their combination.
std::vector<double> digests_of(const Work& work, const torch::data::Example<>& batch) {
  std::vector<double> out = digests_of(work, batch.data);
  if (!work.windows) return out;
  const std::vector<double> targets = weighted(batch.target, 2);
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::fmod(out[i], 1e9) + 1e9 * std::fmod(targets[i], 1e6);
  return out;
}

// Digests of the stored rows.
std::vector<double> expected_digests(const Work& work) {
  if (!work.windows) return weighted(work.rows, 1);
  const int64_t length = work.rows.size(1) - 1;
  return digests_of(work, {work.rows.narrow(1, 0, length), work.rows.narrow(1, 1, length)});
}

// Successive epochs of one loader; keeps its position between rounds.
template <typename Loader>
class Stream {
 public:
  explicit Stream(Loader loader) : loader_(std::move(loader)), at_(loader_->begin()) {}

  // A whole epoch must contain each row once; for huge sets, a hundred batches must be rows of the set. The order must
  // not be the file's.
  void check(const Work& work, const std::vector<double>& wanted) {
    const bool whole = work.rows.nbytes() < kHugeBytes;
    std::vector<double> got;
    for (int count = 0; at_ != loader_->end() && (whole || count < 100); ++at_, ++count) {
      const std::vector<double> more = digests_of(work, *at_);
      got.insert(got.end(), more.begin(), more.end());
    }
    if (whole) at_ = loader_->begin();
    if (got.size() <= wanted.size() && std::equal(got.begin(), got.end(), wanted.begin())) {
      bench::fail("libtorch: file order");
    }
    std::vector<double> known = wanted;
    std::sort(known.begin(), known.end());
    std::sort(got.begin(), got.end());
    if (whole ? got != known : !std::includes(known.begin(), known.end(), got.begin(), got.end())) {
      bench::fail("libtorch: samples that are not the file's");
    }
  }

  Throughput run(double seconds) {
    Throughput done;
    const int64_t begin = bench::now_ns();
    const int64_t cpu_begin = bench::process_cpu_ns();
    const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
    while (bench::now_ns() < deadline) {
      if (at_ == loader_->end()) at_ = loader_->begin();
      const auto& batch = *at_;
      ++done.batches;
      done.rows += data_of(batch).size(0);
      done.bytes += bytes_of(batch);
      ++at_;
    }
    done.elapsed_ns = bench::now_ns() - begin;
    done.cpu_ns = bench::process_cpu_ns() - cpu_begin;
    return done;
  }

 private:
  Loader loader_;
  decltype(std::declval<Loader>()->begin()) at_;
};

struct Variant {
  std::string name;
  std::function<Throughput(double)> run;
};

template <typename Dataset>
Variant make_variant(const std::string& name, Dataset dataset, const Work& work, size_t workers,
                     const std::vector<double>& expected) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(dataset),
      torch::data::DataLoaderOptions().batch_size(static_cast<size_t>(work.batch_size)).workers(workers));
  auto stream = std::make_shared<Stream<decltype(loader)>>(std::move(loader));
  stream->check(work, expected);
  return {name + " w" + std::to_string(workers), [stream](double seconds) { return stream->run(seconds); }};
}

std::vector<Variant> variants_of(const Work& work) {
  const std::vector<double> expected = expected_digests(work);
  std::vector<Variant> out;
  for (const size_t workers : {0, 1, 2}) {
    out.push_back(make_variant("libtorch stack", Rows(work).map(torch::data::transforms::Stack<>()), work,
                               workers, expected));
    if (!work.windows) {
      out.push_back(make_variant("libtorch BatchDataset", Batches(work), work, workers, expected));
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::string row = argc > 1 ? argv[1] : "";
  bench::Settings settings;
  int rounds = 0;
  for (int i = 2; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--small") settings.small = true;
    if (flag == "--data" && i + 1 < argc) settings.data_dir = argv[++i];
    if (flag == "--seconds" && i + 1 < argc) settings.seconds = std::atof(argv[++i]);
    if (flag == "--rounds" && i + 1 < argc) rounds = std::atoi(argv[++i]);
  }
  torch::set_num_threads(1);

  Work work;
  std::unique_ptr<bench::Mapping> map;
  if (row == "rows_u8_47mb" || row == "rows_u8_4700mb" || row == "rows_f32") {
    const int64_t count =
        row == "rows_u8_4700mb" ? (settings.small ? 70'000 : 6'000'000) : (settings.small ? 6'000 : 60'000);
    map = std::make_unique<bench::Mapping>(bench::random_rows_file(settings.data_dir, count, 784));
    map->populate();
    work.rows = torch::from_blob(const_cast<std::byte*>(map->data()) + bench::kNpyHeaderBytes, {count, 784},
                                 torch::kUInt8);
    work.normalize = row == "rows_f32";
  } else if (row == "tokens") {
    const int64_t count = settings.small ? 2'000'000 : 100'000'000;
    map = std::make_unique<bench::Mapping>(bench::random_tokens_file(settings.data_dir, count));
    map->populate();
    work.rows =
        torch::from_blob(const_cast<std::byte*>(map->data()), {count}, torch::kInt16).unfold(0, 1025, 1024);
    work.batch_size = 16;
    work.windows = true;
  } else {
    std::fprintf(stderr, "usage: libtorch_rows rows_u8_47mb|rows_u8_4700mb|rows_f32|tokens --data DIR ...\n");
    return 2;
  }
  const std::vector<Variant> variants = variants_of(work);
  bench::Json json;
  json.begin_object().key("ready").begin_array();
  for (const Variant& variant : variants) json.value(variant.name);
  json.end_array().key("versions").begin_object().key("libtorch").value(TORCH_VERSION);
  bench::print_line(json.end_object().end_object());
  Report report;
  char line[64];
  for (int round = 0; rounds > 0 ? round < rounds : std::fgets(line, sizeof line, stdin) != nullptr;
       ++round) {
    for (size_t i = 0; i < variants.size(); ++i) {
      const Variant& variant = variants[round % 2 != 0 ? variants.size() - 1 - i : i];
      report_throughput(report, variant.name, variant.run(settings.seconds));
    }
    report.print_round();
  }
  return 0;
}
