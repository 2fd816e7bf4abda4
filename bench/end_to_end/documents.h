// The documents of 64 to 1,087 u16 tokens that rows of documents load: consecutive pieces of the file of tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/end_to_end/job.h"
#include "bench/end_to_end/measure.h"

namespace bench {

constexpr const char* kDocumentBatch = "64";

int64_t document_token_count(const Settings& settings);
// What bench/peers writes them to: in the format that it is named after.
std::string documents_path(const Settings& settings, const std::string& format);
// Fails unless the first field of each sample of an epoch is its document.
void check_documents(Job& job, const Settings& settings);

}  // namespace bench
