/* SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>
#include <stdio.h>

int main(void) {
  printf("%s: %s\n", dl_version_string(), dl_build_info());
  return dl_abi_version() == DL_ABI_VERSION ? 0 : 1;
}
