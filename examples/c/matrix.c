// Arithmetic of small networks.
// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include <math.h>
#include <string.h>

// Eight rows of b at a time stay in the first-level cache, and out is read and written an eighth as often.
// The vector lanes run along columns, so no sum is split over lanes: its order is the same on every machine.
// The compiler vectorises the innermost loop at -O3.
void multiply_add(float* restrict out, matrix a, const float* restrict b, int rows, int depth, int columns) {
  const size_t width = (size_t)columns;
  int k = 0;
  for (; k + 8 <= depth; k += 8) {
    const float* restrict b_rows = b + (size_t)k * width;
    for (int row = 0; row < rows; ++row) {
      const float* a_row = a.data + (size_t)row * a.row_stride + (size_t)k * a.column_stride;
      float factor[8];
      for (size_t i = 0; i < 8; ++i) factor[i] = a_row[i * a.column_stride];
      float* restrict out_row = out + (size_t)row * width;
      for (size_t j = 0; j < width; ++j) {
        const float* column = b_rows + j;
        const float low = (factor[0] * column[0] + factor[1] * column[width]) +
                          (factor[2] * column[2 * width] + factor[3] * column[3 * width]);
        const float high = (factor[4] * column[4 * width] + factor[5] * column[5 * width]) +
                           (factor[6] * column[6 * width] + factor[7] * column[7 * width]);
        out_row[j] += low + high;
      }
    }
  }
  for (; k < depth; ++k) {
    for (int row = 0; row < rows; ++row) {
      const float factor = a.data[(size_t)row * a.row_stride + (size_t)k * a.column_stride];
      float* restrict out_row = out + (size_t)row * width;
      for (size_t j = 0; j < width; ++j) out_row[j] += factor * b[(size_t)k * width + j];
    }
  }
}

void fill_rows(float* out, const float* row, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    memcpy(out + (size_t)i * (size_t)columns, row, (size_t)columns * sizeof *row);
}

void add_rows(float* restrict sum, const float* restrict rows_data, int rows, int columns) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) sum[j] += rows_data[(size_t)i * (size_t)columns + (size_t)j];
  }
}

void transpose(float* restrict out, const float* restrict in, int rows, int columns) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      out[(size_t)j * (size_t)rows + (size_t)i] = in[(size_t)i * (size_t)columns + (size_t)j];
  }
}

// Weyl sequence and mixer of SplitMix64.
float uniform(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (float)((z ^ (z >> 31)) >> 40) * (1.0f / 8388608.0f) - 1.0f;  // 24 bits: -1 .. 1
}

int softmax(float* row, int count) {
  int best = 0;
  for (int j = 1; j < count; ++j) {
    if (row[j] > row[best]) best = j;
  }
  const float largest = row[best];
  float sum = 0.0f;
  for (int j = 0; j < count; ++j) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (int j = 0; j < count; ++j) row[j] /= sum;
  return best;
}

uint64_t digest_floats(const float* values, size_t count) {  // FNV-1a
  const unsigned char* bytes = (const unsigned char*)values;
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < count * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}
