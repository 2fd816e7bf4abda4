// The perceptron: one matrix product serves the forward pass and all gradients.
// SPDX-License-Identifier: Apache-2.0
#include "mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

// Where the parts of `parameters`, `velocity` and `gradients` begin.
typedef struct layout {
  size_t b1, w2, b2, end;
} layout;

static layout layout_of(const mlp* model) {
  layout at;
  at.b1 = (size_t)model->inputs * (size_t)model->hidden;
  at.w2 = at.b1 + (size_t)model->hidden;
  at.b2 = at.w2 + (size_t)model->hidden * (size_t)model->outputs;
  at.end = at.b2 + (size_t)model->outputs;
  return at;
}

// The activations of one batch, in `scratch`.
static float* hidden_of(const mlp* model) { return model->scratch; }
static float* logits_of(const mlp* model) {
  return model->scratch + (size_t)model->max_batch * (size_t)model->hidden;
}
static float* hidden_gradient_of(const mlp* model) {
  return logits_of(model) + (size_t)model->max_batch * (size_t)model->outputs;
}
// Room for a transposed weight matrix, the larger of the two.
static float* transpose_of(const mlp* model) {
  return hidden_gradient_of(model) + (size_t)model->max_batch * (size_t)model->hidden;
}

int mlp_create(mlp* model, int inputs, int hidden, int outputs, int max_batch, uint64_t seed) {
  *model = (mlp){.inputs = inputs, .hidden = hidden, .outputs = outputs, .max_batch = max_batch};
  const layout at = layout_of(model);
  const size_t larger = (size_t)hidden * (size_t)(inputs > outputs ? inputs : outputs);
  const size_t scratch = (size_t)max_batch * (size_t)(2 * hidden + outputs) + larger;
  model->parameter_count = at.end;
  model->parameters = calloc(at.end, sizeof(float));
  model->velocity = calloc(at.end, sizeof(float));
  model->gradients = calloc(at.end, sizeof(float));
  model->scratch = calloc(scratch, sizeof(float));
  if (!model->parameters || !model->velocity || !model->gradients || !model->scratch) {
    mlp_destroy(model);
    return -1;
  }
  const float bound1 = sqrtf(6.0f / (float)inputs);
  const float bound2 = sqrtf(6.0f / (float)hidden);
  for (size_t i = 0; i < at.b1; ++i) model->parameters[i] = bound1 * uniform(&seed);
  for (size_t i = at.w2; i < at.b2; ++i) model->parameters[i] = bound2 * uniform(&seed);
  return 0;
}

void mlp_destroy(mlp* model) {
  free(model->parameters);
  free(model->velocity);
  free(model->gradients);
  free(model->scratch);
  *model = (mlp){0};
}

static void forward(mlp* model, const float* x, int count) {
  const layout at = layout_of(model);
  float* hidden = hidden_of(model);
  float* logits = logits_of(model);
  fill_rows(hidden, model->parameters + at.b1, count, model->hidden);
  multiply_add(hidden, by_rows(x, model->inputs), model->parameters, count, model->inputs, model->hidden);
  const size_t units = (size_t)count * (size_t)model->hidden;
  for (size_t i = 0; i < units; ++i) hidden[i] = hidden[i] > 0.0f ? hidden[i] : 0.0f;
  fill_rows(logits, model->parameters + at.b2, count, model->outputs);
  multiply_add(logits, by_rows(hidden, model->hidden), model->parameters + at.w2, count, model->hidden,
               model->outputs);
}

mlp_result mlp_evaluate(mlp* model, const float* x, const int64_t* labels, int count) {
  mlp_result result = {0.0, 0};
  forward(model, x, count);
  for (int i = 0; i < count; ++i) {
    float* row = logits_of(model) + (size_t)i * (size_t)model->outputs;
    result.correct += softmax(row, model->outputs) == labels[i];
    result.loss -= (double)logf(fmaxf(row[labels[i]], 1e-30f));
  }
  return result;
}

// The gradients of the mean loss, from the probabilities that mlp_evaluate left in place of the logits.
static void backward(mlp* model, const float* x, const int64_t* labels, int count, float* x_gradients) {
  const layout at = layout_of(model);
  const float* hidden = hidden_of(model);
  float* logits = logits_of(model);
  float* hidden_gradient = hidden_gradient_of(model);
  float* turned = transpose_of(model);
  const float scale = 1.0f / (float)count;
  for (int i = 0; i < count; ++i) {
    float* row = logits + (size_t)i * (size_t)model->outputs;
    row[labels[i]] -= 1.0f;
    for (int j = 0; j < model->outputs; ++j) row[j] *= scale;
  }
  memset(model->gradients, 0, model->parameter_count * sizeof(float));
  multiply_add(model->gradients + at.w2, transposed(hidden, model->hidden), logits, model->hidden, count,
               model->outputs);
  add_rows(model->gradients + at.b2, logits, count, model->outputs);

  const size_t units = (size_t)count * (size_t)model->hidden;
  memset(hidden_gradient, 0, units * sizeof(float));
  transpose(turned, model->parameters + at.w2, model->hidden, model->outputs);
  multiply_add(hidden_gradient, by_rows(logits, model->outputs), turned, count, model->outputs,
               model->hidden);
  for (size_t i = 0; i < units; ++i) hidden_gradient[i] = hidden[i] > 0.0f ? hidden_gradient[i] : 0.0f;
  multiply_add(model->gradients, transposed(x, model->inputs), hidden_gradient, model->inputs, count,
               model->hidden);
  add_rows(model->gradients + at.b1, hidden_gradient, count, model->hidden);

  if (x_gradients == NULL) return;
  memset(x_gradients, 0, (size_t)count * (size_t)model->inputs * sizeof(float));
  transpose(turned, model->parameters, model->inputs, model->hidden);
  multiply_add(x_gradients, by_rows(hidden_gradient, model->hidden), turned, count, model->hidden,
               model->inputs);
}

mlp_result mlp_train_step(mlp* model, const float* x, const int64_t* labels, int count, float learning_rate,
                          float momentum, float* x_gradients) {
  if (count == 0) return (mlp_result){0.0, 0};
  const mlp_result result = mlp_evaluate(model, x, labels, count);
  backward(model, x, labels, count, x_gradients);
  float* restrict parameters = model->parameters;
  float* restrict velocity = model->velocity;
  const float* restrict gradients = model->gradients;
  for (size_t i = 0; i < model->parameter_count; ++i) {
    velocity[i] = momentum * velocity[i] + gradients[i];
    parameters[i] -= learning_rate * velocity[i];
  }
  return result;
}

void mlp_predict(mlp* model, const float* x, float* probabilities) {
  forward(model, x, 1);
  memcpy(probabilities, logits_of(model), (size_t)model->outputs * sizeof(float));
  (void)softmax(probabilities, model->outputs);
}

uint64_t mlp_digest(const mlp* model) { return digest_floats(model->parameters, model->parameter_count); }
