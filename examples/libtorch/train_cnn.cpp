// Trains a small convolutional network on MNIST digits with LibTorch.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_cnn DIR [EPOCHS [STEPS]]     DIR holds the four MNIST files; STEPS ends each epoch early
//
// A batch's tensors look at the loader's own memory: nothing is copied between the file's rows and the first layer.
#include <torch/torch.h>

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dataline_torch.hpp>
#include <exception>
#include <string>

#include "../cpp/digest.h"

namespace {

struct Job {
  std::string data;
  int64_t epochs = 2;
  int64_t steps = INT64_MAX;
};

// u8 28x28 becomes f32 1x28x28, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
dataline::Options options() { return {{"batch_size", 128}, {"transform", "image: normalize(mnist), chw"}}; }

torch::nn::Sequential make_network() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 5).stride(2)), nn::ReLU(),
                        nn::Conv2d(nn::Conv2dOptions(8, 16, 5).stride(2)), nn::ReLU(), nn::Flatten(),
                        nn::Linear(16 * 4 * 4, 64), nn::ReLU(), nn::Linear(64, 10),
                        nn::LogSoftmax(nn::LogSoftmaxOptions(1)));
}

void train(const Job& job, torch::nn::Sequential& network) {
  dataline::Options settings = options();
  settings.set("shuffle", "full").set("seed", 1).set("epochs", job.epochs);
  dataline::Loader loader(dataline::Dataset("mnist:" + job.data + "?split=train"), settings);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(2e-3));
  network->train();
  Digest digest;
  const auto began = std::chrono::steady_clock::now();
  for (int64_t epoch = 0; epoch < job.epochs; ++epoch) {
    int64_t steps = 0;
    double loss_sum = 0.0;
    for (dataline::Batch& batch : loader) {
      if (epoch == 0) digest.add(batch);
      auto [image, label] = dataline::to_tensors(batch, "image", "label");
      optimizer.zero_grad();
      torch::Tensor loss = torch::nll_loss(network->forward(image), label);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>();
      if (++steps == job.steps) break;
    }
    std::printf("epoch %" PRId64 "/%" PRId64 ": loss %.4f\n", epoch + 1, job.epochs,
                loss_sum / static_cast<double>(steps));
    if (epoch == 0 && job.steps == INT64_MAX)
      std::printf("first epoch digest: %016" PRIx64 "\n", digest.value());
    std::fflush(stdout);
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - began;
  std::printf("waited for data: %.2f %%\n",
              100.0 * static_cast<double>(loader.stats().wait_ns) / elapsed.count());
}

void test(const Job& job, torch::nn::Sequential& network) {
  const torch::NoGradGuard no_gradients;
  network->eval();
  dataline::Loader loader(dataline::Dataset("mnist:" + job.data + "?split=test"), options());
  int64_t correct = 0, samples = 0;
  for (dataline::Batch& batch : loader) {
    auto [image, label] = dataline::to_tensors(batch, "image", "label");
    correct += network->forward(image).argmax(1).eq(label).sum().item<int64_t>();
    samples += batch.samples();
  }
  std::printf("test accuracy: %.2f %%\n",
              100.0 * static_cast<double>(correct) / static_cast<double>(samples));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: example_train_cnn DIR [EPOCHS [STEPS]]\n");
    return 2;
  }
  Job job{argv[1]};
  if (argc > 2) job.epochs = std::atoll(argv[2]);
  if (argc > 3) job.steps = std::atoll(argv[3]);
  // On busy cores the threads of one operator wait for each other by spinning; the loader has a thread of its own.
  torch::set_num_threads(1);
  torch::manual_seed(1);
  try {
    torch::nn::Sequential network = make_network();
    train(job, network);
    test(job, network);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_train_cnn: %s\n", error.what());
    return 1;
  }
  return 0;
}
