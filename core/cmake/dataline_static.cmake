# libdataline.a: all rooms in one object file whose only global names are dl_*. Everything else, hidden names
# and instantiated std:: templates too, is made local, so that nothing can clash with a host's own symbols.
# Without debug information except in Debug builds: it is forty times the code.

if(WIN32)
  # GNU ld cannot decide COMDAT groups of Windows' objects here: the rooms' objects as they are. Our C++ names, all in the
  # namespace dataline, can be seen by the host.
  add_library(dataline_static STATIC ${archive_objects})
  add_library(dataline::static ALIAS dataline_static)
  set_target_properties(dataline_static PROPERTIES OUTPUT_NAME dataline EXPORT_NAME static LINKER_LANGUAGE CXX)
  target_include_directories(dataline_static INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(dataline_static INTERFACE DL_STATIC)
  target_link_libraries(dataline_static INTERFACE Threads::Threads synchronization stdc++)
  return()
endif()

# Hosts need not have these: for an archive that is made on one machine and linked on another.
set(DATALINE_IN_ARCHIVE "" CACHE STRING "Static libraries whose code goes into libdataline.a, hidden like its own")
mark_as_advanced(DATALINE_IN_ARCHIVE)

set(combined "${CMAKE_CURRENT_BINARY_DIR}/dataline_combined.o")
set(product "${CMAKE_CURRENT_BINARY_DIR}/dataline.o")
# --force-group-allocation: each COMDAT group is decided here; left alone, its names could not become local. Only
# GNU ld knows it, whatever linker the compiler prefers.
set(partial_linker ${CMAKE_LINKER})
execute_process(COMMAND ${CMAKE_LINKER} --help OUTPUT_VARIABLE help ERROR_QUIET)
if(NOT help MATCHES "force-group-allocation")
  find_program(DATALINE_GNU_LD NAMES ${CMAKE_LIBRARY_ARCHITECTURE}-ld.bfd ld.bfd REQUIRED)
  mark_as_advanced(DATALINE_GNU_LD)
  set(partial_linker ${DATALINE_GNU_LD})
endif()
# Names of the kind STB_GNU_UNIQUE, which libstdc++.a has, cannot become local; weak ones can.
set(no_unique_names "")
if(DATALINE_IN_ARCHIVE)
  set(no_unique_names COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_Z* "${combined}")
endif()
add_custom_command(
  OUTPUT "${product}"
  COMMAND ${partial_linker} -r --force-group-allocation -o "${combined}" ${archive_objects}
    --start-group ${DATALINE_IN_ARCHIVE} --end-group
  ${no_unique_names}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=dl_* $<$<NOT:$<CONFIG:Debug>>:--strip-debug>
    "${combined}" "${product}"
  COMMAND ${CMAKE_COMMAND} -E rm "${combined}"
  DEPENDS ${archive_objects}
  COMMAND_EXPAND_LISTS VERBATIM
  COMMENT "Linking the rooms into one object that exports only dl_*")

add_library(dataline_static STATIC "${product}")
add_dependencies(dataline_static ${archive_rooms} dataline_capi dataline_version_archive)
add_library(dataline::static ALIAS dataline_static)
set_source_files_properties("${product}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
# C, though the inside is C++: the C++ run time is named below, so a project without C++ can link this.
set_target_properties(dataline_static PROPERTIES OUTPUT_NAME dataline EXPORT_NAME static LINKER_LANGUAGE C)
target_include_directories(dataline_static INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What a host has to link besides, by plain names: they go into the CMake package and dataline.pc.
set(static_names "")
foreach(library IN LISTS archive_libraries)
  get_target_property(name ${library} DATALINE_LINK_NAME)
  get_target_property(files ${library} INTERFACE_LINK_LIBRARIES)
  if(files AND DATALINE_IN_ARCHIVE)
    list(REMOVE_ITEM files ${DATALINE_IN_ARCHIVE})
  endif()
  if(name AND files)
    list(APPEND static_names ${name})
    target_link_libraries(dataline_static INTERFACE
      $<BUILD_INTERFACE:$<TARGET_PROPERTY:${library},INTERFACE_LINK_LIBRARIES>> $<INSTALL_INTERFACE:${name}>)
  endif()
endforeach()
set(static_runtime ${cxx_runtime})
foreach(file IN LISTS DATALINE_IN_ARCHIVE)
  get_filename_component(name "${file}" NAME_WE)
  string(REGEX REPLACE "^lib" "" name "${name}")
  list(REMOVE_ITEM static_runtime "${name}")
endforeach()
list(APPEND static_names ${static_runtime})
target_link_libraries(dataline_static INTERFACE ${static_runtime} Threads::Threads ${CMAKE_DL_LIBS})
if(DATALINE_SANITIZE)
  target_link_options(dataline_static INTERFACE -fsanitize=${DATALINE_SANITIZE})
endif()
