# Where libdataline is, in this order:
#   1. DATALINE_LIB_DIR (environment or -D): the folder of libdataline.so, of a build or an installation;
#      DATALINE_INCLUDE_DIR where the header is not found near it
#   2. find_package(dataline)
#   3. the checkout that this folder lies in, built here
# SPDX-License-Identifier: Apache-2.0
foreach(name LIB_DIR INCLUDE_DIR)
  if(NOT DATALINE_${name} AND DEFINED ENV{DATALINE_${name}})
    set(DATALINE_${name} "$ENV{DATALINE_${name}}")
  endif()
endforeach()
get_filename_component(checkout "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(file "")

if(DATALINE_LIB_DIR)
  get_filename_component(DATALINE_LIB_DIR "${DATALINE_LIB_DIR}" ABSOLUTE)
  set(file "${DATALINE_LIB_DIR}/libdataline.so")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "DATALINE_LIB_DIR: expected libdataline.so in ${DATALINE_LIB_DIR}")
  endif()
  find_path(DATALINE_INCLUDE dataline.h NO_DEFAULT_PATH NO_CACHE REQUIRED PATHS
    "${DATALINE_INCLUDE_DIR}" "${DATALINE_LIB_DIR}/../include" "${DATALINE_LIB_DIR}/../../include"
    "${DATALINE_LIB_DIR}/../../../capi" "${checkout}/capi")
else()
  find_package(dataline 0.1 CONFIG QUIET)
  if(dataline_FOUND)
    set(target dataline::shared)
    get_target_property(DATALINE_INCLUDE dataline::shared INTERFACE_INCLUDE_DIRECTORIES)
  elseif(EXISTS "${checkout}/capi/dataline.h")
    foreach(part TESTS EXAMPLES CLI BENCH INSTALL)
      set(DATALINE_${part} OFF)
    endforeach()
    add_subdirectory("${checkout}" dataline EXCLUDE_FROM_ALL)
    set(target dataline_shared)
    set(DATALINE_INCLUDE "${checkout}/capi")
  else()
    message(FATAL_ERROR "libdataline was not found: set DATALINE_LIB_DIR to its folder, make find_package(dataline) "
      "work, or install from a checkout of Dataline")
  endif()
endif()

add_library(dataline_library INTERFACE)
if(file)
  target_link_libraries(dataline_library INTERFACE "${file}")
  message(STATUS "libdataline: ${file}")
else()
  target_link_libraries(dataline_library INTERFACE ${target})
  set(file "$<TARGET_FILE:${target}>")
  message(STATUS "libdataline: ${target}")
endif()
set(DATALINE_FILE "${file}")
