// A two-layer perceptron (inputs - hidden with ReLU - outputs with softmax) trained by momentum SGD.
// SPDX-License-Identifier: Apache-2.0
//
// Nothing here knows where the samples come from. One thread, no BLAS; every sum runs in one fixed order,
// whatever the width of the vector unit, so that equal batches give equal weights, bit for bit.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct mlp {
  int inputs;
  int hidden;
  int outputs;
  int max_batch;
  size_t parameter_count;
  float* parameters;  // w1 [inputs][hidden], b1 [hidden], w2 [hidden][outputs], b2 [outputs]
  float* velocity;    // the optimizer's state, laid out as the parameters
  float* gradients;   // of the last step, laid out as the parameters
  float* scratch;     // activations of one batch
} mlp;

// Sums over the samples of a batch.
typedef struct mlp_result {
  double loss;  // cross entropy, nats
  int64_t correct;
} mlp_result;

// 0, or -1 when there is no memory. The weights are drawn from `seed` (He's uniform initialisation).
int mlp_create(mlp* model, int inputs, int hidden, int outputs, int max_batch, uint64_t seed);
void mlp_destroy(mlp* model);

// x [count][inputs], labels [count] in 0 .. outputs - 1, count <= max_batch.
mlp_result mlp_evaluate(mlp* model, const float* x, const int64_t* labels, int count);

// One step of SGD on the mean loss. Writes the gradient by x to x_gradients [count][inputs] unless that is
// NULL.
mlp_result mlp_train_step(mlp* model, const float* x, const int64_t* labels, int count, float learning_rate,
                          float momentum, float* x_gradients);

// The probabilities of the next output for one row x [inputs], in probabilities [outputs].
void mlp_predict(mlp* model, const float* x, float* probabilities);

// 64 bits over the bytes of the parameters: equal digests, equal weights.
uint64_t mlp_digest(const mlp* model);
