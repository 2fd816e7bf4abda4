// The convolutional network: patches are laid out as rows of a matrix, and one matrix product does the rest.
// SPDX-License-Identifier: Apache-2.0
#include "convnet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

enum { kColours = 3 };
static const int kKernels[kConvolutions] = {5, 3, 3, 3};
static const int kChannels[kConvolutions] = {16, 32, 48, 64};

static size_t square(int side) { return (size_t)side * (size_t)side; }
static int patch_values(const convolution* layer) {
  return layer->kernel * layer->kernel * layer->in_channels;
}
static size_t output_values(const convolution* layer) {
  return square(layer->out_side) * (size_t)layer->out_channels;
}

// Fills in the shapes and where everything lies. Returns how many activations a batch has, without the logits.
static size_t lay_out(convnet* model, size_t* patch_room, size_t* weight_room) {
  size_t activations = 0;
  int side = model->side, channels = kColours;
  *patch_room = *weight_room = 0;
  for (int i = 0; i < kConvolutions; ++i) {
    convolution* layer = &model->layers[i];
    *layer = (convolution){.kernel = kKernels[i], .in_side = side, .in_channels = channels};
    layer->out_side = side = (side + 1) / 2;
    layer->out_channels = channels = kChannels[i];
    const size_t weights = (size_t)patch_values(layer) * (size_t)channels;
    const size_t patches = square(side) * (size_t)patch_values(layer);
    layer->weights = model->parameter_count;
    layer->biases = layer->weights + weights;
    model->parameter_count = layer->biases + (size_t)channels;
    layer->outputs = activations;
    activations += (size_t)model->max_batch * output_values(layer);
    if (patches > *patch_room) *patch_room = patches;
    if (weights > *weight_room) *weight_room = weights;
  }
  model->features = (int)output_values(&model->layers[kConvolutions - 1]);
  model->linear_weights = model->parameter_count;
  model->linear_biases = model->linear_weights + (size_t)model->features * (size_t)model->classes;
  model->parameter_count = model->linear_biases + (size_t)model->classes;
  const size_t linear = (size_t)model->features * (size_t)model->classes;
  if (linear > *weight_room) *weight_room = linear;
  return activations;
}

// He's uniform initialisation.
static void draw_weights(float* weights, int inputs, int outputs, uint64_t* seed) {
  const float bound = sqrtf(6.0f / (float)inputs);
  for (size_t i = 0; i < (size_t)inputs * (size_t)outputs; ++i) weights[i] = bound * uniform(seed);
}

int convnet_create(convnet* model, int side, int classes, int max_batch, uint64_t seed) {
  *model = (convnet){.side = side, .classes = classes, .max_batch = max_batch};
  size_t patch_room, weight_room;
  const size_t activations = lay_out(model, &patch_room, &weight_room) + (size_t)max_batch * (size_t)classes;
  model->parameters = calloc(model->parameter_count, sizeof(float));
  model->moments = calloc(2 * model->parameter_count, sizeof(float));
  model->gradients = calloc(model->parameter_count, sizeof(float));
  model->activations = calloc(activations, sizeof(float));
  model->activation_gradients = calloc(activations, sizeof(float));
  model->patches = calloc(patch_room, sizeof(float));
  model->turned = calloc(weight_room, sizeof(float));
  if (!model->parameters || !model->moments || !model->gradients || !model->activations ||
      !model->activation_gradients || !model->patches || !model->turned) {
    convnet_destroy(model);
    return -1;
  }
  for (int i = 0; i < kConvolutions; ++i) {
    const convolution* layer = &model->layers[i];
    draw_weights(model->parameters + layer->weights, patch_values(layer), layer->out_channels, &seed);
  }
  draw_weights(model->parameters + model->linear_weights, model->features, classes, &seed);
  return 0;
}

void convnet_destroy(convnet* model) {
  free(model->parameters);
  free(model->moments);
  free(model->gradients);
  free(model->activations);
  free(model->activation_gradients);
  free(model->patches);
  free(model->turned);
  *model = (convnet){0};
}

// Which columns of a kernel, centred at input place `at`, lie inside: [*first, *end).
static void columns_inside(const convolution* layer, int left, int* first, int* end) {
  *first = left < 0 ? -left : 0;
  *end = left + layer->kernel > layer->in_side ? layer->in_side - left : layer->kernel;
}

// in [in_side][in_side][in_channels] to patches [out_side * out_side][patch_values]; zero beyond the edges.
static void gather_patches(const convolution* layer, const float* in, float* patches) {
  const size_t channels = (size_t)layer->in_channels, line = (size_t)layer->kernel * channels;
  memset(patches, 0, square(layer->out_side) * (size_t)patch_values(layer) * sizeof *patches);
  for (int y = 0; y < layer->out_side; ++y) {
    for (int x = 0; x < layer->out_side; ++x, patches += patch_values(layer)) {
      const int top = 2 * y - layer->kernel / 2, left = 2 * x - layer->kernel / 2;
      int first, end;
      columns_inside(layer, left, &first, &end);
      for (int k = 0; k < layer->kernel; ++k) {
        if (top + k < 0 || top + k >= layer->in_side) continue;
        const float* from =
            in + ((size_t)(top + k) * (size_t)layer->in_side + (size_t)(left + first)) * channels;
        memcpy(patches + (size_t)k * line + (size_t)first * channels, from,
               (size_t)(end - first) * channels * sizeof *in);
      }
    }
  }
}

// The other way round: adds each patch to where it came from.
static void scatter_patches(const convolution* layer, const float* patches, float* in) {
  const size_t channels = (size_t)layer->in_channels, line = (size_t)layer->kernel * channels;
  for (int y = 0; y < layer->out_side; ++y) {
    for (int x = 0; x < layer->out_side; ++x, patches += patch_values(layer)) {
      const int top = 2 * y - layer->kernel / 2, left = 2 * x - layer->kernel / 2;
      int first, end;
      columns_inside(layer, left, &first, &end);
      for (int k = 0; k < layer->kernel; ++k) {
        if (top + k < 0 || top + k >= layer->in_side) continue;
        float* to = in + ((size_t)(top + k) * (size_t)layer->in_side + (size_t)(left + first)) * channels;
        const float* from = patches + (size_t)k * line + (size_t)first * channels;
        for (size_t i = 0; i < (size_t)(end - first) * channels; ++i) to[i] += from[i];
      }
    }
  }
}

// A layer's input for picture `at`: the layer before, or the picture itself.
static const float* input_of(const convnet* model, int layer, const float* x, int at) {
  if (layer == 0) return x + (size_t)at * square(model->side) * kColours;
  const convolution* before = &model->layers[layer - 1];
  return model->activations + before->outputs + (size_t)at * output_values(before);
}

static float* logits_of(const convnet* model, float* activations) {
  const convolution* last = &model->layers[kConvolutions - 1];
  return activations + last->outputs + (size_t)model->max_batch * output_values(last);
}

static void forward(convnet* model, const float* x, int count) {
  for (int at = 0; at < count; ++at) {
    for (int i = 0; i < kConvolutions; ++i) {
      const convolution* layer = &model->layers[i];
      const int places = layer->out_side * layer->out_side, depth = patch_values(layer);
      float* out = model->activations + layer->outputs + (size_t)at * output_values(layer);
      gather_patches(layer, input_of(model, i, x, at), model->patches);
      fill_rows(out, model->parameters + layer->biases, places, layer->out_channels);
      multiply_add(out, by_rows(model->patches, depth), model->parameters + layer->weights, places, depth,
                   layer->out_channels);
      for (size_t k = 0; k < output_values(layer); ++k) out[k] = out[k] > 0.0f ? out[k] : 0.0f;
    }
  }
  const float* features = model->activations + model->layers[kConvolutions - 1].outputs;
  float* logits = logits_of(model, model->activations);
  fill_rows(logits, model->parameters + model->linear_biases, count, model->classes);
  multiply_add(logits, by_rows(features, model->features), model->parameters + model->linear_weights, count,
               model->features, model->classes);
}

convnet_result convnet_evaluate(convnet* model, const float* x, const int64_t* labels, int count) {
  convnet_result result = {0.0, 0};
  forward(model, x, count);
  for (int i = 0; i < count; ++i) {
    float* row = logits_of(model, model->activations) + (size_t)i * (size_t)model->classes;
    result.correct += softmax(row, model->classes) == labels[i];
    result.loss -= (double)logf(fmaxf(row[labels[i]], 1e-30f));
  }
  return result;
}

// The linear layer's gradients, from the probabilities that convnet_evaluate left in place of the logits.
static void backward_linear(convnet* model, const int64_t* labels, int count) {
  const convolution* last = &model->layers[kConvolutions - 1];
  const float* features = model->activations + last->outputs;
  float* logits = logits_of(model, model->activations);
  const float scale = 1.0f / (float)count;
  for (int i = 0; i < count; ++i) {
    float* row = logits + (size_t)i * (size_t)model->classes;
    row[labels[i]] -= 1.0f;
    for (int j = 0; j < model->classes; ++j) row[j] *= scale;
  }
  multiply_add(model->gradients + model->linear_weights, transposed(features, model->features), logits,
               model->features, count, model->classes);
  add_rows(model->gradients + model->linear_biases, logits, count, model->classes);
  transpose(model->turned, model->parameters + model->linear_weights, model->features, model->classes);
  multiply_add(model->activation_gradients + last->outputs, by_rows(logits, model->classes), model->turned,
               count, model->classes, model->features);
}

// A layer's gradients, and those of its input unless that is the picture.
static void backward_layer(convnet* model, int number, const float* x, int count) {
  const convolution* layer = &model->layers[number];
  const int places = layer->out_side * layer->out_side, depth = patch_values(layer);
  transpose(model->turned, model->parameters + layer->weights, depth, layer->out_channels);
  for (int at = 0; at < count; ++at) {
    const size_t begin = layer->outputs + (size_t)at * output_values(layer);
    const float* out = model->activations + begin;
    float* gradient = model->activation_gradients + begin;
    for (size_t k = 0; k < output_values(layer); ++k) gradient[k] = out[k] > 0.0f ? gradient[k] : 0.0f;
    gather_patches(layer, input_of(model, number, x, at), model->patches);
    multiply_add(model->gradients + layer->weights, transposed(model->patches, depth), gradient, depth,
                 places, layer->out_channels);
    add_rows(model->gradients + layer->biases, gradient, places, layer->out_channels);
    if (number == 0) continue;
    memset(model->patches, 0, (size_t)places * (size_t)depth * sizeof(float));
    multiply_add(model->patches, by_rows(gradient, layer->out_channels), model->turned, places,
                 layer->out_channels, depth);
    const convolution* before = layer - 1;
    scatter_patches(layer, model->patches,
                    model->activation_gradients + before->outputs + (size_t)at * output_values(before));
  }
}

static void adam(convnet* model, int64_t step, float learning_rate) {
  static const float kMean = 0.9f, kSquare = 0.999f;
  const size_t count = model->parameter_count;
  float* restrict parameters = model->parameters;
  float* restrict means = model->moments;
  float* restrict squares = model->moments + count;
  const float* restrict gradients = model->gradients;
  // Both begin at 0: what they lack at first is made up for.
  const float mean_share = (float)(1.0 - pow((double)kMean, (double)step));
  const float square_share = (float)(1.0 - pow((double)kSquare, (double)step));
  const float rate = learning_rate / mean_share;
  for (size_t i = 0; i < count; ++i) {
    means[i] = kMean * means[i] + (1.0f - kMean) * gradients[i];
    squares[i] = kSquare * squares[i] + (1.0f - kSquare) * gradients[i] * gradients[i];
    parameters[i] -= rate * means[i] / (sqrtf(squares[i] / square_share) + 1e-8f);
  }
}

convnet_result convnet_train_step(convnet* model, const float* x, const int64_t* labels, int count,
                                  int64_t step, float learning_rate) {
  if (count == 0) return (convnet_result){0.0, 0};
  const convnet_result result = convnet_evaluate(model, x, labels, count);
  const size_t activations = (size_t)(logits_of(model, model->activations) - model->activations);
  memset(model->gradients, 0, model->parameter_count * sizeof(float));
  memset(model->activation_gradients, 0, activations * sizeof(float));
  backward_linear(model, labels, count);
  for (int i = kConvolutions - 1; i >= 0; --i) backward_layer(model, i, x, count);
  adam(model, step, learning_rate);
  return result;
}
