// A character model: the vectors of the last eight tokens, side by side, go through a perceptron that
// predicts the next. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "mlp.h"

enum {
  kContext = 8,  // tokens the model sees
  kWidth = 16,   // numbers a token's vector has
  kInputs = kContext * kWidth,
  kHidden = 128,
  kMaxRows = 1024,  // predictions of a batch
  kMaxTokens = 256,
};

typedef struct language_model {
  mlp network;
  int tokens;  // how many there are
  float vectors[kMaxTokens][kWidth];
  uint16_t contexts[kMaxRows][kContext];  // of each prediction of a batch: the tokens before it
  int64_t targets[kMaxRows];              // and the token that followed
  float inputs[kMaxRows][kInputs];        // the contexts' vectors
  float input_gradients[kMaxRows][kInputs];
} language_model;

// NULL when there is no memory.
language_model* model_create(int tokens, uint64_t seed);
void model_destroy(language_model* model);

// On the first `rows` of contexts and targets; the sum of their losses, in nats.
double model_train(language_model* model, int rows, float rate, float momentum);
double model_evaluate(language_model* model, int rows);

// Draws the token that follows contexts[0], and moves that context on by it.
int model_sample(language_model* model, uint64_t* random);
