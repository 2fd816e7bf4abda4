/* A program outside the tree: one epoch of ten samples from its own memory, every byte accounted for.
 * Valid C99 and C++98, so that it also stands for C++ hosts without exceptions and RTTI.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>
#include <stdio.h>
#include <string.h>

#include "run_epoch.h"

int main(void) {
  const struct epoch_api api = EPOCH_API_LINKED;
  char failure[600];
  if (dl_abi_version() != DL_ABI_VERSION) {
    fprintf(stderr, "header has ABI %d, library %d\n", DL_ABI_VERSION, (int)dl_abi_version());
    return 1;
  }
  if (!run_epoch(&api, failure, sizeof failure)) {
    fprintf(stderr, "%s\n", failure);
    return 1;
  }
  printf("consumer: ok with %s (%s)\n", dl_version_string(), dl_build_info());
  return 0;
}
