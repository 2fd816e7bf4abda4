# The libraries we use. Each has one option: ON (an error when missing), AUTO (used when found) or OFF; the outcome is an
# interface target dataline_with_<name> (empty when absent) and shows in dl_build_info(), what is missing with its cost.

find_package(Threads REQUIRED)

# Targets that the static library does without: a host that links it must not get them by surprise.
set(DATALINE_NOT_IN_ARCHIVE "")

# dataline_uses(NAME HEADER header [LIBRARY name] PACKAGE package COST text [REQUIRED] [FOLDER folder] [AUTO_IS_OFF]). PACKAGE: Debian's.
# COST: what it is to be without it. REQUIRED: ON unless told otherwise, for what people would miss without noticing. FOLDER: the
# only one that is searched for the header. AUTO_IS_OFF: only ON uses it.
function(dataline_uses name)
  cmake_parse_arguments(USES "REQUIRED;AUTO_IS_OFF" "HEADER;LIBRARY;PACKAGE;COST;FOLDER" "" ${ARGN})
  string(TOUPPER ${name} upper)
  set(default AUTO)
  if(USES_REQUIRED)
    set(default ON)
  endif()
  set(DATALINE_WITH_${upper} ${default} CACHE STRING "Use ${name}: AUTO, ON or OFF")
  set_property(CACHE DATALINE_WITH_${upper} PROPERTY STRINGS AUTO ON OFF)
  add_library(dataline_with_${name} INTERFACE)
  set_target_properties(dataline_with_${name} PROPERTIES
    DATALINE_FEATURE "" DATALINE_LINK_NAME "" DATALINE_MISSING "${name} (${USES_COST})")
  set(DATALINE_HAS_${upper} FALSE PARENT_SCOPE)
  set(found FALSE)
  if(DATALINE_WITH_${upper} STREQUAL "ON" OR (DATALINE_WITH_${upper} STREQUAL "AUTO" AND NOT USES_AUTO_IS_OFF))
    if(USES_FOLDER)
      find_path(DATALINE_${upper}_INCLUDE ${USES_HEADER} PATHS "${USES_FOLDER}" NO_DEFAULT_PATH)
    else()
      find_path(DATALINE_${upper}_INCLUDE ${USES_HEADER})
    endif()
    set(found ${DATALINE_${upper}_INCLUDE})
    if(USES_LIBRARY)
      find_library(DATALINE_${upper}_LIBRARY ${USES_LIBRARY})
      if(NOT DATALINE_${upper}_LIBRARY)
        set(found FALSE)
      endif()
    endif()
    mark_as_advanced(DATALINE_${upper}_INCLUDE DATALINE_${upper}_LIBRARY)
  endif()
  if(found)
    target_include_directories(dataline_with_${name} SYSTEM INTERFACE ${DATALINE_${upper}_INCLUDE})
    target_compile_definitions(dataline_with_${name} INTERFACE DATALINE_HAS_${upper}=1)
    if(USES_LIBRARY)
      target_link_libraries(dataline_with_${name} INTERFACE ${DATALINE_${upper}_LIBRARY})
    endif()
    set_target_properties(dataline_with_${name} PROPERTIES
      DATALINE_FEATURE ${name} DATALINE_LINK_NAME "${USES_LIBRARY}")
    set(DATALINE_HAS_${upper} TRUE PARENT_SCOPE)
  elseif(DATALINE_WITH_${upper} STREQUAL "ON")
    string(STRIP "${USES_HEADER} ${USES_LIBRARY}" wanted)
    message(FATAL_ERROR "${name} was not found (${wanted}). Without it: ${USES_COST}.\n"
      "Install it (Debian, Ubuntu: apt-get install ${USES_PACKAGE}),\n"
      "or name the folder that holds ${USES_HEADER}: -DDATALINE_${upper}_INCLUDE=FOLDER (for Highway a copy of its sources "
      "will do, it is not compiled),\n"
      "or do without it: -DDATALINE_WITH_${upper}=OFF.\n"
      "pip, cargo and Julia's Pkg take such flags from the environment: CMAKE_ARGS=-D...")
  else()
    set(kind STATUS)
    if(USES_REQUIRED)
      set(kind WARNING)
    endif()
    message(${kind} "Dataline is built without ${name}: ${USES_COST} (Debian, Ubuntu: ${USES_PACKAGE})")
  endif()
endfunction()

# Headers only: dispatch is ours, so libhwy is not linked. Required, for nothing but the speed tells that it is missing.
dataline_uses(highway HEADER hwy/highway.h PACKAGE libhwy-dev REQUIRED
  COST "normalised rows 3 to 7 times, photographs about 2 times slower")
dataline_uses(mimalloc HEADER mimalloc.h LIBRARY mimalloc PACKAGE libmimalloc-dev
  COST "descriptions and scratch from malloc")
dataline_uses(libdeflate HEADER libdeflate.h LIBRARY deflate PACKAGE libdeflate-dev COST ".gz and deflated .npz cannot be read")
dataline_uses(libzstd HEADER zstd.h LIBRARY zstd PACKAGE libzstd-dev COST ".zst, and Arrow files, MDS and LitData sets that Zstandard compressed, cannot be read, and nothing is written with codec=zstd")
dataline_uses(liblz4 HEADER lz4frame.h LIBRARY lz4 PACKAGE liblz4-dev COST "Arrow files that LZ4 compressed, as Feather's, cannot be read, and nothing is written with codec=lz4")
dataline_uses(libjpeg HEADER jpeglib.h LIBRARY jpeg PACKAGE libjpeg62-turbo-dev  # libjpeg-turbo: its partial decoding is needed
  COST "JPEG cannot be decoded")
dataline_uses(libspng HEADER spng.h LIBRARY spng PACKAGE libspng-dev COST "PNG cannot be decoded")
dataline_uses(libwebp HEADER webp/decode.h LIBRARY webp PACKAGE libwebp-dev COST "WebP cannot be decoded")
include(dataline_jpeg_huffman)
if(DATALINE_BENCH)
  dataline_uses(liburing HEADER liburing.h LIBRARY uring PACKAGE liburing-dev COST "no yardstick for cold records")
endif()

# A shared mimalloc defines malloc and operator new too: on the link line of a host it would take the place of
# the host's own. So the static library has mimalloc only where mimalloc itself is static.
if(DATALINE_HAS_MIMALLOC)
  find_library(DATALINE_MIMALLOC_ARCHIVE NAMES libmimalloc.a libmimalloc-static.a)
  mark_as_advanced(DATALINE_MIMALLOC_ARCHIVE)
  if(NOT DATALINE_MIMALLOC_ARCHIVE)
    list(APPEND DATALINE_NOT_IN_ARCHIVE dataline_with_mimalloc)
  endif()
endif()

include(dataline_kernels)
