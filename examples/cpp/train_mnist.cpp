// Trains a small neural network on MNIST digits over dataline.hpp.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_mnist_cpp --data DIR
//
// The network is the C example's (c/mlp.c).
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dataline.hpp>
#include <exception>
#include <memory>
#include <string>

#include "digest.h"
#include "epoch_line.h"

extern "C" {
#include "../c/command_line.h"
#include "../c/mlp.h"
}

namespace {

constexpr int kClasses = 10;
constexpr float kLearningRate = 0.1f;  // falls to 0 in a straight line over the job
constexpr float kMomentum = 0.9f;

struct Job {
  const char* data = nullptr;
  int64_t epochs = 5;
  int64_t batch_size = 128;
  int64_t hidden = 128;
  int64_t seed = 1;
  int64_t num_workers = -1;
};

class Network {
 public:
  Network(int inputs, const Job& job) {
    if (mlp_create(&model_, inputs, static_cast<int>(job.hidden), kClasses, static_cast<int>(job.batch_size),
                   static_cast<uint64_t>(job.seed)) != 0) {
      throw dataline::Error(DL_ERR_NO_MEMORY, "the network's memory");
    }
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network() { mlp_destroy(&model_); }

  // image: f32 [B, inputs]; label: i64 [B].
  mlp_result train(const dataline::Batch& batch, float rate) {
    return mlp_train_step(&model_, images(batch), labels(batch), count(batch), rate, kMomentum, nullptr);
  }
  mlp_result evaluate(const dataline::Batch& batch) {
    return mlp_evaluate(&model_, images(batch), labels(batch), count(batch));
  }

 private:
  static const float* images(const dataline::Batch& batch) { return batch["image"].as<float>().data(); }
  static const int64_t* labels(const dataline::Batch& batch) {
    const dataline::Span<const int64_t> labels = batch["label"].as<int64_t>();
    for (const int64_t label : labels) {
      if (label < 0 || label >= kClasses) {
        throw dataline::Error(DL_ERR_OUT_OF_RANGE, "label " + std::to_string(label) + ": expected 0 to 9");
      }
    }
    return labels.data();
  }
  static int count(const dataline::Batch& batch) { return static_cast<int>(batch["label"].shape()[0]); }

  mlp model_ = {};
};

dataline::Dataset open(const Job& job, const char* split) {
  const std::unique_ptr<char, decltype(&free)> uri(uri_of_path("mnist", job.data, split), &free);
  return dataline::Dataset(uri.get());
}

// u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
dataline::Options options(const Job& job) {
  return {{"batch_size", job.batch_size},
          {"num_workers", job.num_workers},
          {"transform", "image: normalize(mnist), flatten"}};
}

void train(const Job& job, Network& network, dataline::Loader& loader) {
  Digest digest;
  const double steps = static_cast<double>(job.epochs * loader.steps());
  double step = 0.0;
  for (int64_t epoch = 0; epoch < job.epochs; ++epoch) {
    mlp_result sum = {};
    int64_t samples = 0;
    const std::string label = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(job.epochs);
    EpochLine line(loader, label);
    for (dataline::Batch& batch : loader) {
      if (epoch == 0) digest.add(batch);
      const mlp_result result =
          network.train(batch, kLearningRate * static_cast<float>(1.0 - step++ / steps));
      sum.loss += result.loss;
      sum.correct += result.correct;
      samples += batch.samples();
      line.step("loss=" + std::to_string(sum.loss / static_cast<double>(samples)).substr(0, 5));
    }
    line.end();
    const double count = static_cast<double>(samples);
    if (!line.visible()) {
      std::printf("%s: loss %.4f, train accuracy %.2f %%\n", label.c_str(), sum.loss / count,
                  100.0 * static_cast<double>(sum.correct) / count);
    }
    std::fflush(stdout);
    if (epoch == 0) std::printf("first epoch digest: %016" PRIx64 "\n", digest.value());
  }
}

void test(const Job& job, Network& network) {
  dataline::Loader loader(open(job, "split=test"), options(job));
  int64_t correct = 0, samples = 0;
  for (dataline::Batch& batch : loader) {
    correct += network.evaluate(batch).correct;
    samples += batch.samples();
  }
  std::printf("test accuracy: %.2f %%\n",
              100.0 * static_cast<double>(correct) / static_cast<double>(samples));
}

void run(const Job& job) {
  dataline::Options settings = options(job);
  settings.set("shuffle", "full").set("seed", job.seed).set("epochs", job.epochs);
  dataline::Loader loader(open(job, "split=train"), settings);
  Network network(static_cast<int>(loader.fields()["image"].shape()[1]), job);
  train(job, network, loader);
  test(job, network);
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  const flag flags[] = {
      {"--data", "DIR", "the four MNIST files, .gz or not (needed)", &job.data, nullptr, 0, 0},
      {"--epochs", "N", "how often the training set is seen (5)", nullptr, &job.epochs, 1, 10000},
      {"--batch-size", "N", "samples a step (128)", nullptr, &job.batch_size, 1, 65536},
      {"--hidden", "N", "hidden units (128)", nullptr, &job.hidden, 1, 65536},
      {"--seed", "N", "of the order and of the first weights (1)", nullptr, &job.seed, 0, INT64_MAX},
      {"--num-workers", "N", "loading threads (-1: as many as fit)", nullptr, &job.num_workers, -1, 256},
  };
  parse_command_line(argc, argv, "Trains a small neural network on MNIST digits.", flags,
                     static_cast<int>(sizeof flags / sizeof flags[0]), nullptr);
  if (job.data == nullptr) {
    std::fprintf(stderr, "example_train_mnist_cpp: --data DIR is needed (--help lists the flags)\n");
    return 2;
  }
  try {
    run(job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_train_mnist_cpp: %s\n", error.what());
    return 1;
  }
  return 0;
}
