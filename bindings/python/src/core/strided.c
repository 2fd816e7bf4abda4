/* Copies strided items to contiguous memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core.h"

int64_t item_count(const int64_t* shape, int32_t rank) {
  int64_t count = 1;
  for (int32_t at = 0; at < rank; at++) count *= shape[at];
  return count;
}

void copy_strided(char* to, const char* from, int32_t rank, const int64_t* shape, const int64_t* strides,
                  int64_t item_bytes) {
  int64_t packed = item_bytes;
  int32_t loose = rank; /* dims from here on lie packed */
  while (loose > 0 && (strides[loose - 1] == packed || shape[loose - 1] == 1)) packed *= shape[--loose];
  if (loose == 0) {
    if (packed > 0) memcpy(to, from, (size_t)packed);
    return;
  }
  int64_t part = item_bytes * item_count(shape + 1, rank - 1);
  for (int64_t row = 0; row < shape[0]; row++)
    copy_strided(to + row * part, from + row * strides[0], rank - 1, shape + 1, strides + 1, item_bytes);
}
