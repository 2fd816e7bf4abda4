// SPDX-License-Identifier: Apache-2.0
#include "core/source/source.h"

namespace dataline {

void fingerprint_schema(const Source& source, Digest& digest) {
  digest.add(static_cast<uint64_t>(source.count()));
  const std::vector<Field>& fields = source.schema().fields;
  digest.add(static_cast<uint64_t>(fields.size()));
  for (const Field& field : fields) {
    digest.add(field.name);
    digest.add(static_cast<uint64_t>(field.kind));
    digest.add(static_cast<uint64_t>(field.dtype));
    digest.add(static_cast<uint64_t>(field.shape.size()));
    for (int64_t dim : field.shape) digest.add(static_cast<uint64_t>(dim));
  }
}

}  // namespace dataline
