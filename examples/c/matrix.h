// Arithmetic of small networks: one thread, no BLAS, every sum in one fixed order whatever the width of the vector unit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

// A matrix that is read along its rows or, with the strides swapped, along its columns.
typedef struct matrix {
  const float* data;
  size_t row_stride;
  size_t column_stride;
} matrix;

static inline matrix by_rows(const float* data, int columns) { return (matrix){data, (size_t)columns, 1}; }
static inline matrix transposed(const float* data, int columns) { return (matrix){data, 1, (size_t)columns}; }

// out [rows][columns] += a [rows][depth] * b [depth][columns].
void multiply_add(float* restrict out, matrix a, const float* restrict b, int rows, int depth, int columns);

// Each of the rows becomes `row`.
void fill_rows(float* out, const float* row, int rows, int columns);
// sum [columns] += each of the rows.
void add_rows(float* restrict sum, const float* restrict rows_data, int rows, int columns);
// out [columns][rows] = in [rows][columns].
void transpose(float* restrict out, const float* restrict in, int rows, int columns);

// -1 .. 1, the same numbers everywhere.
float uniform(uint64_t* state);

// Logits to probabilities, in place. Returns the place of the largest.
int softmax(float* row, int count);

// 64 bits over the values' bytes: equal digests, equal values.
uint64_t digest_floats(const float* values, size_t count);
