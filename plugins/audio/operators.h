// The operators: what each takes and gives, and how a row is made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capi/dataline.h"

namespace dataline_audio {

dl_status add_operators(dl_extensions* extensions, dl_error* error);

}  // namespace dataline_audio
