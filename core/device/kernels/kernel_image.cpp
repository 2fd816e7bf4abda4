// Embeds the kernels with the assembler's .incbin: no huge array to compile, and no exported symbol. The build defines
// DATALINE_KERNEL_IMAGE as the path of the file.
// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernels/kernel_call.h"

#if defined(DATALINE_KERNEL_IMAGE)
// clang-format off
asm(".pushsection .rodata.dataline_kernels, \"a\"\n"
    ".balign 64\n"
    ".globl dataline_kernel_image_begin\n.hidden dataline_kernel_image_begin\ndataline_kernel_image_begin:\n"
    ".incbin \"" DATALINE_KERNEL_IMAGE "\"\n"
    ".globl dataline_kernel_image_end\n.hidden dataline_kernel_image_end\ndataline_kernel_image_end:\n"
    ".popsection\n");
// clang-format on

// NOLINTBEGIN(readability-identifier-naming): names of the assembler
extern "C" [[gnu::visibility("hidden")]] const std::byte dataline_kernel_image_begin[];
extern "C" [[gnu::visibility("hidden")]] const std::byte dataline_kernel_image_end[];
// NOLINTEND(readability-identifier-naming)

namespace dataline {

std::span<const std::byte> kernel_image() {
  return {&dataline_kernel_image_begin[0], &dataline_kernel_image_end[0]};
}

}  // namespace dataline
#else
namespace dataline {

std::span<const std::byte> kernel_image() { return {}; }

}  // namespace dataline
#endif
