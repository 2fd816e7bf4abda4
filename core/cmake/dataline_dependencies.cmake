# Optional libraries. Each has one option, AUTO (used when found), ON (an error when missing) or OFF; the
# outcome is an interface target dataline_with_<name> (empty when absent) and shows in dl_build_info().

find_package(Threads REQUIRED)

# Targets that the static library does without: a host that links it must not get them by surprise.
set(DATALINE_NOT_IN_ARCHIVE "")

function(dataline_optional name header library)
  string(TOUPPER ${name} upper)
  set(DATALINE_WITH_${upper} AUTO CACHE STRING "Use ${name}: AUTO, ON or OFF")
  set_property(CACHE DATALINE_WITH_${upper} PROPERTY STRINGS AUTO ON OFF)
  add_library(dataline_with_${name} INTERFACE)
  set_target_properties(dataline_with_${name} PROPERTIES DATALINE_FEATURE "" DATALINE_LINK_NAME "")
  set(DATALINE_HAS_${upper} FALSE PARENT_SCOPE)
  if(DATALINE_WITH_${upper} STREQUAL "OFF")
    return()
  endif()
  find_path(DATALINE_${upper}_INCLUDE ${header})
  set(found ${DATALINE_${upper}_INCLUDE})
  if(library)
    find_library(DATALINE_${upper}_LIBRARY ${library})
    if(NOT DATALINE_${upper}_LIBRARY)
      set(found FALSE)
    endif()
  endif()
  mark_as_advanced(DATALINE_${upper}_INCLUDE DATALINE_${upper}_LIBRARY)
  if(found)
    target_include_directories(dataline_with_${name} SYSTEM INTERFACE ${DATALINE_${upper}_INCLUDE})
    target_compile_definitions(dataline_with_${name} INTERFACE DATALINE_HAS_${upper}=1)
    if(library)
      target_link_libraries(dataline_with_${name} INTERFACE ${DATALINE_${upper}_LIBRARY})
    endif()
    set_target_properties(dataline_with_${name} PROPERTIES
      DATALINE_FEATURE ${name} DATALINE_LINK_NAME "${library}")
    set(DATALINE_HAS_${upper} TRUE PARENT_SCOPE)
  elseif(DATALINE_WITH_${upper} STREQUAL "ON")
    message(FATAL_ERROR "DATALINE_WITH_${upper}=ON, but ${header} ${library} was not found")
  endif()
endfunction()

dataline_optional(highway hwy/highway.h "")    # header only: dispatch is ours, so libhwy is not linked
dataline_optional(mimalloc mimalloc.h mimalloc)
dataline_optional(libdeflate libdeflate.h deflate)
dataline_optional(liburing liburing.h uring)
dataline_optional(libjpeg jpeglib.h jpeg)  # libjpeg-turbo: its partial decoding is needed
if(DATALINE_HAS_LIBJPEG AND EXISTS "${DATALINE_LIBJPEG_INCLUDE}/jpegint.h")  # Debian installs it: faster by a fifth
  target_compile_definitions(dataline_with_libjpeg INTERFACE DATALINE_HAS_JPEGINT=1)
endif()
dataline_optional(libspng spng.h spng)
dataline_optional(libwebp webp/decode.h webp)

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
