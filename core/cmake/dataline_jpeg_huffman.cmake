# DATALINE_WITH_JPEG_HUFFMAN: our Huffman decoder in place of libjpeg-turbo's (core/transform/decode/jpeg_huffman.h). It includes
# jpegint.h, a private header of libjpeg-turbo that any release may change.

# The releases that the tests of JPEG decoding passed with (2.1.2 as Ubuntu builds it, with the API of libjpeg 8). AUTO uses our
# decoder only with these. Beside each, the years in its copyright message: a running library reports its release by no other
# text.
set(tested
  2.1.2 1991-2021
  2.1.5 1991-2023
  3.1.3 1991-2025)

set(cost "JPEGs decode 9 to 18 percent slower")
set(years "")
set(auto_is_off AUTO_IS_OFF)
set(folder none)
if(DATALINE_HAS_LIBJPEG)
  set(folder "${DATALINE_LIBJPEG_INCLUDE}")
  find_file(DATALINE_JCONFIG jconfig.h HINTS "${folder}")  # Debian: in a folder of the architecture
  mark_as_advanced(DATALINE_JCONFIG)
  set(release "")
  if(DATALINE_JCONFIG)
    file(STRINGS "${DATALINE_JCONFIG}" release REGEX "define LIBJPEG_TURBO_VERSION ")
    string(REGEX REPLACE ".*LIBJPEG_TURBO_VERSION +" "" release "${release}")
  endif()
  list(FIND tested "${release}" place)
  if(place EQUAL -1)
    string(APPEND cost ": libjpeg-turbo ${release} is not among the tested releases")
  else()
    math(EXPR place "${place} + 1")
    list(GET tested ${place} years)
    set(auto_is_off "")
  endif()
endif()

dataline_uses(jpeg_huffman HEADER jpegint.h FOLDER "${folder}" PACKAGE libjpeg62-turbo-dev COST "${cost}"
  ${auto_is_off})
target_compile_definitions(dataline_with_jpeg_huffman INTERFACE DATALINE_LIBJPEG_YEARS="${years}")
if(NOT DATALINE_HAS_LIBJPEG)
  set_target_properties(dataline_with_jpeg_huffman PROPERTIES DATALINE_MISSING "")  # libjpeg is reported already
endif()
