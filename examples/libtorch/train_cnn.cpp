// Trains a small convolutional network on MNIST digits with LibTorch.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_cnn [--device DEVICE] DIR [EPOCHS [STEPS]]
//
// DIR holds the four MNIST files; STEPS ends each epoch early; DEVICE is cpu (default), cuda or cuda:N.
//
// A batch's tensors look at the loader's own memory: nothing is copied between the file's rows and the first layer. On a GPU
// that memory is the device's: what crossed the bus are the stored bytes, while the step before was running.
#include <torch/torch.h>

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dataline_torch.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "../cpp/digest.h"
#include "../cpp/epoch_line.h"

namespace {

struct Job {
  torch::Device device = torch::kCPU;
  std::string data;
  int64_t epochs = 2;
  int64_t steps = INT64_MAX;
};

// u8 28x28 becomes f32 1x28x28, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
dataline::Options options(const Job& job) {
  return {{"batch_size", 128},
          {"transform", "image: normalize(mnist), chw"},
          {"device", dataline::device_option(job.device)}};
}

torch::nn::Sequential make_network() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 5).stride(2)), nn::ReLU(),
                        nn::Conv2d(nn::Conv2dOptions(8, 16, 5).stride(2)), nn::ReLU(), nn::Flatten(),
                        nn::Linear(16 * 4 * 4, 64), nn::ReLU(), nn::Linear(64, 10),
                        nn::LogSoftmax(nn::LogSoftmaxOptions(1)));
}

void train(const Job& job, torch::nn::Sequential& network) {
  dataline::Options settings = options(job);
  settings.set("shuffle", "full").set("seed", 1).set("epochs", job.epochs);
  dataline::Loader loader(dataline::Dataset("mnist:" + job.data + "?split=train"), settings);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(2e-3));
  network->train();
  Digest digest;
  const auto began = std::chrono::steady_clock::now();
  for (int64_t epoch = 0; epoch < job.epochs; ++epoch) {
    int64_t steps = 0;
    torch::Tensor loss_sum = torch::zeros({}, job.device);  // a number would have to be waited for
    const std::string label = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(job.epochs);
    EpochLine line(loader, label);
    for (dataline::Batch& batch : loader) {
      if (epoch == 0 && job.device.is_cpu()) digest.add(batch);
      auto [image, label] = dataline::to_tensors(batch, "image", "label");
      optimizer.zero_grad();
      torch::Tensor loss = torch::nll_loss(network->forward(image), label);
      loss.backward();
      optimizer.step();
      loss_sum += loss.detach();
      line.step();
      if (++steps == job.steps) break;
    }
    line.end();
    std::printf("%s: loss %.4f\n", label.c_str(), loss_sum.item<double>() / static_cast<double>(steps));
    if (epoch == 0 && job.steps == INT64_MAX && job.device.is_cpu())
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
  dataline::Loader loader(dataline::Dataset("mnist:" + job.data + "?split=test"), options(job));
  torch::Tensor correct = torch::zeros({}, torch::TensorOptions(torch::kLong).device(job.device));
  int64_t samples = 0;
  for (dataline::Batch& batch : loader) {
    auto [image, label] = dataline::to_tensors(batch, "image", "label");
    correct += network->forward(image).argmax(1).eq(label).sum();
    samples += batch.samples();
  }
  std::printf("test accuracy: %.2f %%\n", 100.0 * correct.item<double>() / static_cast<double>(samples));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  Job job;
  try {
    if (words.size() > 1 && words[0] == "--device") {
      job.device = torch::Device(words[1]);
      words.erase(words.begin(), words.begin() + 2);
    }
    if (words.empty() || words.size() > 3) throw std::invalid_argument("which DIR?");
    job.data = words[0];
    if (words.size() > 1) job.epochs = std::stoll(words[1]);
    if (words.size() > 2) job.steps = std::stoll(words[2]);
  } catch (const std::exception&) {
    std::fprintf(stderr, "usage: example_train_cnn [--device cpu|cuda|cuda:N] DIR [EPOCHS [STEPS]]\n");
    return 2;
  }
  if (job.device.is_cuda() && !torch::cuda::is_available()) {
    std::fprintf(stderr, "example_train_cnn: LibTorch " TORCH_VERSION " finds no CUDA device here\n");
    return 1;
  }
  // On busy cores the threads of one operator wait for each other by spinning; the loader has a thread of its own.
  torch::set_num_threads(1);
  torch::manual_seed(1);
  try {
    torch::nn::Sequential network = make_network();
    network->to(job.device);
    train(job, network);
    test(job, network);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_train_cnn: %s\n", error.what());
    return 1;
  }
  return 0;
}
