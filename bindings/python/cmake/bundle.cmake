# Puts `library`, and what it needs that is not part of every Linux, into `folder`/lib, under the names they are asked for by, and
# `program`, where there is one, into `folder`/bin.
# SPDX-License-Identifier: Apache-2.0
set(everywhere "^(ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\\+\\+|libgcc_s)\\.so")
file(GET_RUNTIME_DEPENDENCIES LIBRARIES "${library}"
  RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "${everywhere}")
if(missing)
  message(FATAL_ERROR "${library} needs ${missing}, which are not here")
endif()

# dynamic_section(FILE): what readelf says of it, in `dynamic`.
macro(dynamic_section file)
  execute_process(COMMAND readelf -d "${file}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
endmacro()

# bundle(FROM TO): the file itself, whatever links lead to it, without what only a debugger reads.
function(bundle from to)
  message(STATUS "In the wheel: ${to} (${from})")
  file(REAL_PATH "${from}" from)
  configure_file("${from}" "${folder}/${to}" COPYONLY)
  execute_process(COMMAND "${strip}" --strip-unneeded "${folder}/${to}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

dynamic_section("${library}")
if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]*)\\]")
  message(FATAL_ERROR "${library} has no soname")
endif()
bundle("${library}" "lib/${CMAKE_MATCH_1}")
foreach(path IN LISTS needed)
  get_filename_component(name "${path}" NAME)
  bundle("${path}" "lib/${name}")
endforeach()

# The program looks for all of these in ../lib: one that was built here does, and so does an installed one whose library needs
# nothing else. Any other is told to.
if(NOT program)
  message(STATUS "The wheel is without the program `dataline`: there is none beside ${library}")
  return()
endif()
dynamic_section("${program}")
set(finds_them FALSE)
if(dynamic MATCHES "R(UN)?PATH[^[]*\\[\\$ORIGIN/\\.\\./lib\\]" AND (dynamic MATCHES "\\(RPATH\\)" OR NOT needed))
  set(finds_them TRUE)
endif()
if(NOT finds_them AND NOT patchelf)
  message(STATUS "The wheel is without the program `dataline`: ${program} does not look for its library in ../lib, and there is no patchelf")
  return()
endif()
bundle("${program}" bin/dataline)
if(NOT finds_them)
  execute_process(COMMAND "${patchelf}" --force-rpath --set-rpath "$ORIGIN/../lib" "${folder}/bin/dataline" COMMAND_ERROR_IS_FATAL ANY)
endif()
