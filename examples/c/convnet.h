// A small convolutional network trained by Adam: four convolutions of stride 2 with ReLU, then one linear layer.
// SPDX-License-Identifier: Apache-2.0
//
// Nothing here knows where the pictures come from. One thread; equal batches give equal weights, bit for bit.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { kConvolutions = 4 };

// A convolution as a matrix product: each output place's patch of the input, times the weights.
typedef struct convolution {
  int kernel;
  int in_side, in_channels;
  int out_side, out_channels;
  size_t weights;  // where [kernel][kernel][in_channels][out_channels] begins among the parameters
  size_t biases;
  size_t outputs;  // where its activations of a batch begin: [count][out_side][out_side][out_channels]
} convolution;

typedef struct convnet {
  int side;  // of the pictures
  int classes;
  int max_batch;
  convolution layers[kConvolutions];
  size_t linear_weights, linear_biases;  // [features][classes]
  int features;
  size_t parameter_count;
  float* parameters;
  float* moments;    // the optimizer's state: a mean and a mean square of each parameter's gradients
  float* gradients;  // of the last step
  float* activations;
  float* activation_gradients;  // laid out as the activations, then the logits
  float* patches;               // of one picture
  float* turned;                // a layer's weights, transposed
} convnet;

// Sums over the pictures of a batch.
typedef struct convnet_result {
  double loss;  // cross entropy, nats
  int64_t correct;
} convnet_result;

// 0, or -1 when there is no memory. The weights are drawn from `seed`.
int convnet_create(convnet* model, int side, int classes, int max_batch, uint64_t seed);
void convnet_destroy(convnet* model);

// x [count][side][side][3], labels [count] in 0 .. classes - 1, count <= max_batch.
convnet_result convnet_evaluate(convnet* model, const float* x, const int64_t* labels, int count);

// One step of Adam (Kingma and Ba, 2015) on the mean loss; `step` counts the steps from 1 on.
convnet_result convnet_train_step(convnet* model, const float* x, const int64_t* labels, int count,
                                  int64_t step, float learning_rate);
