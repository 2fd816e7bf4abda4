# libdataline.so. Only what capi/exports.map names leaves it; SOVERSION is DL_ABI_VERSION, from the first
# release on: a release that breaks the ABI, 0.x too, raises it.

add_library(dataline_shared SHARED ${shared_objects})
add_library(dataline::shared ALIAS dataline_shared)
set_target_properties(dataline_shared PROPERTIES
  OUTPUT_NAME dataline EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${DATALINE_ABI_VERSION}
  INTERPROCEDURAL_OPTIMIZATION OFF
  LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/exports.map")
target_include_directories(dataline_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(WIN32)
  # What DL_API exports; the runtime is in the DLL. It stays loaded, as below (capi/windows/stay_loaded.cpp).
  target_link_libraries(dataline_shared PRIVATE dataline_compile ${libraries} Threads::Threads synchronization)
  return()
endif()

# nodelete: dlclose must not unmap code that a batch's last release, on any thread, still needs.
target_link_options(dataline_shared PRIVATE
  "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map"
  LINKER:-z,nodelete LINKER:--exclude-libs,ALL LINKER:--as-needed)
if(NOT DATALINE_SANITIZE)
  target_link_options(dataline_shared PRIVATE LINKER:-z,defs)  # clang leaves the sanitizers' names to the program
endif()

# The C++ run time comes first: a shared mimalloc defines operator new too, and must not be found before it.
target_link_libraries(dataline_shared PRIVATE
  dataline_compile ${cxx_runtime} ${libraries} Threads::Threads ${CMAKE_DL_LIBS})
