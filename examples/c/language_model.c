// The character model.
// SPDX-License-Identifier: Apache-2.0
#include "language_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

language_model* model_create(int tokens, uint64_t seed) {
  language_model* model = calloc(1, sizeof *model);
  if (model == NULL) return NULL;
  model->tokens = tokens;
  for (int i = 0; i < kMaxTokens * kWidth; ++i)
    model->vectors[i / kWidth][i % kWidth] = sinf((float)(i * i % 8191));
  if (mlp_create(&model->network, kInputs, kHidden, tokens, kMaxRows, seed) == 0) return model;
  free(model);
  return NULL;
}

void model_destroy(language_model* model) {
  if (model == NULL) return;
  mlp_destroy(&model->network);
  free(model);
}

static void embed(language_model* model, int rows) {
  for (int row = 0; row < rows; ++row) {
    for (int c = 0; c < kContext; ++c) {
      memcpy(&model->inputs[row][c * kWidth], model->vectors[model->contexts[row][c]],
             kWidth * sizeof(float));
    }
  }
}

double model_train(language_model* model, int rows, float rate, float momentum) {
  embed(model, rows);
  const mlp_result result = mlp_train_step(&model->network, model->inputs[0], model->targets, rows, rate,
                                           momentum, model->input_gradients[0]);
  const float vector_rate = rate / (1.0f - momentum);  // vectors have no momentum: the rate makes up for it
  for (int row = 0; row < rows; ++row) {
    for (int c = 0; c < kContext; ++c) {
      float* vector = model->vectors[model->contexts[row][c]];
      const float* gradient = &model->input_gradients[row][c * kWidth];
      for (int k = 0; k < kWidth; ++k) vector[k] -= vector_rate * gradient[k];
    }
  }
  return result.loss;
}

double model_evaluate(language_model* model, int rows) {
  embed(model, rows);
  return mlp_evaluate(&model->network, model->inputs[0], model->targets, rows).loss;
}

int model_sample(language_model* model, uint64_t* random) {
  float probabilities[kMaxTokens];
  embed(model, 1);
  mlp_predict(&model->network, model->inputs[0], probabilities);
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  float rest = (float)(*random >> 40) * (1.0f / 16777216.0f);
  int token = 0;
  while (token + 1 < model->tokens && (rest -= probabilities[token]) > 0.0f) ++token;
  uint16_t* context = model->contexts[0];
  memmove(context, context + 1, (kContext - 1) * sizeof *context);
  context[kContext - 1] = (uint16_t)token;
  return token;
}
