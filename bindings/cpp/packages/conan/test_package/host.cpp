// SPDX-License-Identifier: Apache-2.0
#include <dataline.hpp>
#include <iostream>
#include <vector>

int main() {
  const std::vector<float> x(1000);
  const dataline::Dataset dataset = dataline::Dataset::copy_arrays({dataline::Array("x", x)});
  dataline::Loader loader(dataset, {{"batch_size", 128}, {"shuffle", "full"}});
  int64_t rows = 0;
  for (dataline::Batch& batch : loader) rows += batch.samples();
  std::cout << rows << " rows\n";
  return rows == 1000 ? 0 : 1;
}
