// The plug-in that rows of Parquet need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bench {

// Its path, from DATALINE_PARQUET_PLUGIN, which programs.py sets.
const char* parquet_plugin();

}  // namespace bench
