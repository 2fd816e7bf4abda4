# Where libdataline is, in this order:
#   1. DATALINE_LIB_DIR (environment or -D): the folder of libdataline.so, of a build or an installation;
#      DATALINE_INCLUDE_DIR where the header is not found near it
#   2. find_package(dataline)
#   3. its sources, built here: the checkout that this folder lies in, or the folder `library` of an sdist
# Sets `library` to the folder of the sources in the third case, else to "".
# SPDX-License-Identifier: Apache-2.0
foreach(name LIB_DIR INCLUDE_DIR)
  if(NOT DATALINE_${name} AND DEFINED ENV{DATALINE_${name}})
    set(DATALINE_${name} "$ENV{DATALINE_${name}}")
  endif()
endforeach()
get_filename_component(above "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(inside "${CMAKE_CURRENT_LIST_DIR}/../library" ABSOLUTE)
set(library "")
set(DATALINE_FILE "")
unset(DATALINE_INCLUDE)

if(DATALINE_LIB_DIR)
  get_filename_component(DATALINE_LIB_DIR "${DATALINE_LIB_DIR}" ABSOLUTE)
  set(DATALINE_FILE "${DATALINE_LIB_DIR}/libdataline.so")
  if(NOT EXISTS "${DATALINE_FILE}")
    message(FATAL_ERROR "DATALINE_LIB_DIR: expected libdataline.so in ${DATALINE_LIB_DIR}")
  endif()
  find_path(DATALINE_INCLUDE dataline.h NO_DEFAULT_PATH NO_CACHE PATHS
    "${DATALINE_INCLUDE_DIR}" "${DATALINE_LIB_DIR}/../include" "${DATALINE_LIB_DIR}/../../include"
    "${DATALINE_LIB_DIR}/../../../capi" "${inside}/capi" "${above}/capi")
  if(NOT DATALINE_INCLUDE)
    message(FATAL_ERROR "DATALINE_LIB_DIR: dataline.h was not found near ${DATALINE_LIB_DIR}; DATALINE_INCLUDE_DIR names its folder")
  endif()
  return()
endif()

find_package(dataline 0.1 CONFIG QUIET)
if(dataline_FOUND)
  get_target_property(DATALINE_INCLUDE dataline::shared INTERFACE_INCLUDE_DIRECTORIES)
  foreach(configuration RELEASE RELWITHDEBINFO MINSIZEREL DEBUG NOCONFIG)
    if(NOT DATALINE_FILE)
      get_target_property(file dataline::shared IMPORTED_LOCATION_${configuration})
      if(file)
        set(DATALINE_FILE "${file}")
      endif()
    endif()
  endforeach()
  return()
endif()

foreach(folder IN ITEMS "${inside}" "${above}")
  if(NOT library AND EXISTS "${folder}/capi/dataline.h")
    set(library "${folder}")
  endif()
endforeach()
if(NOT library)
  message(FATAL_ERROR "libdataline was not found: set DATALINE_LIB_DIR to its folder, make find_package(dataline) "
    "work, or install from a checkout of Dataline (with pip 21.3 or later: older ones copy this folder out of it)")
endif()
