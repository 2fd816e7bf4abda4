// decode_images: decodes what its standard input asks for, for oracles in other languages. A request is a line
//   MODE ORIENT TOP LEFT HEIGHT WIDTH PATH     (MODE rgb|gray|rgba|unchanged; a height of 0: the whole image)
// and its answer "HEIGHT WIDTH CHANNELS ELEMENT_BYTES" and the pixels, or "error CODE MESSAGE". One decoder a mode serves
// all requests.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <map>

#include "tests/support/read_whole.h"
#include "tests/transform/decode/decoded.h"

int main() {
  using namespace dataline;
  const std::map<std::string, PixelMode> modes = {{"rgb", PixelMode::kRgb},
                                                  {"gray", PixelMode::kGray},
                                                  {"rgba", PixelMode::kRgba},
                                                  {"unchanged", PixelMode::kUnchanged}};
  std::map<std::pair<std::string, bool>, std::unique_ptr<TestDecoder>> decoders;
  std::ios::sync_with_stdio(false);
  std::string mode, path;
  bool orient = false;
  ImageRegion region;
  while (std::cin >> mode >> orient >> region.top >> region.left >> region.height >> region.width >>
             std::ws &&
         std::getline(std::cin, path)) {
    std::unique_ptr<TestDecoder>& decoder = decoders[{mode, orient}];
    if (!decoder) {
      DecodeOptions options;
      options.mode = modes.at(mode);
      options.orient = orient;
      decoder = std::make_unique<TestDecoder>(options);
    }
    const std::string bytes = read_whole(path);
    const Decoded got = decoder->decode(bytes, region, 5);
    if (got.status.is_ok()) {
      std::cout << got.height << ' ' << got.width << ' ' << got.channels << ' ' << got.element_bytes << '\n';
      std::cout.write(reinterpret_cast<const char*>(got.pixels.data()),
                      static_cast<std::streamsize>(got.pixels.size()));
    } else {
      std::cout << "error " << code_name(got.status.code()) << ' ' << got.status.message() << '\n';
    }
    std::cout.flush();
  }
  return 0;
}
