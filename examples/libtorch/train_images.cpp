// Trains a small convolutional network on folders of JPEG, PNG or WebP pictures with LibTorch.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_images_torch --data DIR [--epochs N] [--device DEVICE]
//
// DIR holds train/CLASS/* and val/CLASS/*; DEVICE is cpu (default), cuda or cuda:N. Pictures are decoded, cropped,
// scaled, mirrored and normalised on their way into the batch, whose tensors look at the loader's own memory.
#include <torch/torch.h>

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <dataline_torch.hpp>
#include <exception>
#include <stdexcept>
#include <string>

#include "../cpp/epoch_line.h"

namespace {

struct Job {
  torch::Device device = torch::kCPU;
  std::string data;
  int64_t epochs = 12;
};

dataline::Dataset open_folder(const Job& job, bool train) {
  return dataline::Dataset("folder:" + job.data + (train ? "/train" : "/val"));
}

dataline::Loader make_loader(const Job& job, const dataline::Dataset& pictures, bool train) {
  dataline::Options settings{{"batch_size", 32}, {"device", dataline::device_option(job.device)}};
  if (train) {
    settings.set(
        "transform",
        "image: decode, random_resized_crop(48, scale=[0.7, 1.0]), hflip, vflip, normalize(imagenet), chw");
    settings.set("shuffle", "full").set("seed", 1).set("epochs", job.epochs);
  } else {
    settings.set("transform", "image: decode, resize([48, 48]), normalize(imagenet), chw");
  }
  return dataline::Loader(pictures, settings);
}

torch::nn::Sequential make_network(int64_t classes) {
  namespace nn = torch::nn;
  nn::Sequential network;
  int64_t channels = 3;
  for (const int64_t wider : {16, 32, 48, 64}) {
    const int64_t kernel = channels == 3 ? 5 : 3;
    network->push_back(
        nn::Conv2d(nn::Conv2dOptions(channels, wider, kernel).stride(2).padding(kernel / 2).bias(false)));
    network->push_back(nn::BatchNorm2d(wider));
    network->push_back(nn::ReLU());
    channels = wider;
  }
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(64 * 3 * 3, classes));
  return network;
}

void train(const Job& job, dataline::Loader& loader, torch::nn::Sequential& network) {
  torch::optim::AdamW optimizer(network->parameters(), torch::optim::AdamWOptions(2e-3).weight_decay(1e-2));
  network->train();
  const auto began = std::chrono::steady_clock::now();
  for (int64_t epoch = 0; epoch < job.epochs; ++epoch) {
    int64_t steps = 0;
    torch::Tensor loss_sum = torch::zeros({}, job.device);  // a number would have to be waited for
    const double done = static_cast<double>(epoch) / static_cast<double>(job.epochs);
    static_cast<torch::optim::AdamWOptions&>(optimizer.param_groups()[0].options()).lr(2e-3 * (1 - done));
    const std::string name = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(job.epochs);
    EpochLine line(loader, name);
    for (dataline::Batch& batch : loader) {
      auto [image, label] = dataline::to_tensors(batch, "image", "label");
      optimizer.zero_grad();
      torch::Tensor loss = torch::nn::functional::cross_entropy(network->forward(image), label);
      loss.backward();
      optimizer.step();
      loss_sum += loss.detach();
      line.step();
      ++steps;
    }
    line.end();
    std::printf("%s: loss %.4f\n", name.c_str(), loss_sum.item<double>() / static_cast<double>(steps));
    std::fflush(stdout);
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - began;
  std::printf("waited for data: %.2f %%\n",
              100.0 * static_cast<double>(loader.stats().wait_ns) / elapsed.count());
}

void test(const Job& job, torch::nn::Sequential& network) {
  const torch::NoGradGuard no_gradients;
  network->eval();
  dataline::Loader loader = make_loader(job, open_folder(job, false), false);
  torch::Tensor correct = torch::zeros({}, torch::TensorOptions(torch::kLong).device(job.device));
  int64_t samples = 0;
  for (dataline::Batch& batch : loader) {
    auto [image, label] = dataline::to_tensors(batch, "image", "label");
    correct += network->forward(image).argmax(1).eq(label).sum();
    samples += batch.samples();
  }
  std::printf("test accuracy: %.2f %%\n", 100.0 * correct.item<double>() / static_cast<double>(samples));
}

Job parse(int argc, char** argv) {
  Job job;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(flag);
    if (flag == "--data") {
      job.data = argv[i + 1];
    } else if (flag == "--epochs") {
      job.epochs = std::stoll(argv[i + 1]);
    } else if (flag == "--device") {
      job.device = torch::Device(argv[i + 1]);
    } else {
      throw std::invalid_argument(flag);
    }
  }
  if (job.data.empty() || job.epochs < 1) throw std::invalid_argument("--data");
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  try {
    job = parse(argc, argv);
  } catch (const std::exception&) {
    std::fprintf(stderr,
                 "usage: example_train_images_torch --data DIR [--epochs N] [--device cpu|cuda|cuda:N]\n");
    return 2;
  }
  if (job.device.is_cuda() && !torch::cuda::is_available()) {
    std::fprintf(stderr,
                 "example_train_images_torch: LibTorch " TORCH_VERSION " finds no CUDA device here\n");
    return 1;
  }
  // On busy cores the threads of one operator wait for each other by spinning; the loader has threads of its own.
  torch::set_num_threads(1);
  torch::manual_seed(1);
  try {
    const dataline::Dataset pictures = open_folder(job, true);
    dataline::Loader loader = make_loader(job, pictures, true);
    torch::nn::Sequential network = make_network(static_cast<int64_t>(pictures.classes().size()));
    network->to(job.device);
    train(job, loader, network);
    test(job, network);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_train_images_torch: %s\n", error.what());
    return 1;
  }
  return 0;
}
