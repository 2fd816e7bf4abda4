# How every object of the project is compiled. Interface targets that our targets link privately, so that
# nothing leaks into a host project that uses add_subdirectory.

add_library(dataline_compile INTERFACE)
target_compile_features(dataline_compile INTERFACE cxx_std_20)
# -ffp-contract=off: normalize promises the same bytes on every machine (two roundings, never fused).
target_compile_options(dataline_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wno-sign-conversion>
  # The lock rules that core/base/thread_mutex.h writes down; only clang knows how to check them.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wthread-safety -Wthread-safety-beta>)

# For whoever builds it to use it: half the time to compile, and a backtrace has its names and lines. Not where types are
# read out of the debug information (the property DATALINE_TYPES of a target).
if(DATALINE_UNITY)
  target_compile_options(dataline_compile INTERFACE
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<NOT:$<BOOL:$<TARGET_PROPERTY:DATALINE_TYPES>>>>:-g1>
    # GCC takes the files of a group for headers, which other objects would include too.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

if(WIN32)
  # Windows 10's calls, without the macros min and max; offsets of 64 bits. GCC keeps stacks aligned to 16 bytes there and
  # still moves AVX registers as if aligned to 32 (its bug 54412): the assembler writes the moves that do not care.
  target_compile_definitions(dataline_compile INTERFACE
    _WIN32_WINNT=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN _FILE_OFFSET_BITS=64)
  target_compile_options(dataline_compile INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wa,-muse-unaligned-vector-move>)
endif()

# A build that looks for defects stops at them (core/base/status.h). Not by NDEBUG, which a host project's own build type
# may leave out.
if(DATALINE_SANITIZE)
  target_compile_definitions(dataline_compile INTERFACE DATALINE_STOP_AT_DEFECTS)
else()
  target_compile_definitions(dataline_compile INTERFACE $<$<CONFIG:Debug>:DATALINE_STOP_AT_DEFECTS>)
endif()

if(DATALINE_SANITIZE)
  target_compile_options(dataline_compile INTERFACE
    -fsanitize=${DATALINE_SANITIZE} -fno-sanitize-recover=all
    -fno-sanitize=vptr  # its checks need free descriptors, which the tests of full tables take away
    # gcc's instrumented code hides initialisations from its own warning.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> -fno-omit-frame-pointer
    # C callers and the driver name their own types for what our functions take: the same call, another type to clang.
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(dataline_compile INTERFACE -fsanitize=${DATALINE_SANITIZE})
  if(DATALINE_SANITIZE_EXCEPT)
    target_compile_options(dataline_compile INTERFACE -fno-sanitize=${DATALINE_SANITIZE_EXCEPT})
  endif()
  if(DATALINE_SANITIZE MATCHES "address")
    target_compile_definitions(dataline_compile INTERFACE _GLIBCXX_ASSERTIONS
      $<$<COMPILE_LANG_AND_ID:CXX,Clang>:__SANITIZE_ADDRESS__>)  # as gcc says it
  endif()
endif()

# Objects that go into the library: hidden, position independent, no STB_GNU_UNIQUE symbols (they would
# survive objcopy and tie two copies of the library together). Exceptions and RTTI are asked for by name: a host
# project may have turned them off for its own code.
add_library(dataline_library_flags INTERFACE)
target_compile_options(dataline_library_flags INTERFACE
  -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -fexceptions -frtti>
  $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
target_link_libraries(dataline_library_flags INTERFACE dataline_compile)
# A host that says neither a build type nor a level of its own would get what is compiled without any: ten times slower.
foreach(language C CXX)
  if(NOT "${CMAKE_${language}_FLAGS}" MATCHES "(^| )-O")
    target_compile_options(dataline_library_flags INTERFACE
      $<$<AND:$<COMPILE_LANGUAGE:${language}>,$<STREQUAL:$<CONFIG>,>>:-O2>)
  endif()
endforeach()

# tests/interleave: the rooms whose threads a scheduler runs, and those that use their types, are all but these. They are
# compiled as ever, and a cache has their objects. Planted faults are linked in place of single files, which stay alone.
set(dataline_not_interleaved dataline_order dataline_transform)
set(dataline_planted "")
if(DATALINE_INTERLEAVE)
  file(GLOB plants CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/interleave/plants/*.plant")
  foreach(plant IN LISTS plants)
    file(STRINGS "${plant}" named REGEX "^(file|compile): ")
    string(REGEX MATCHALL "core/[^ ;]+[.]cpp" named "${named}")
    list(APPEND dataline_planted ${named})
  endforeach()
endif()
function(dataline_interleave target)
  target_compile_definitions(${target} PRIVATE DATALINE_INTERLEAVE="tests/interleave/primitives.h" DATALINE_STOP_AT_DEFECTS)
endfunction()

# dataline_objects(TARGET [LIBRARIES target...]): flags of a target whose objects go into the libraries.
# No link-time optimisation, even if the host asks for it: the static library is made with `ld -r`.
function(dataline_objects target)
  cmake_parse_arguments(OBJECTS "" "" "LIBRARIES" ${ARGN})
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF EXCLUDE_FROM_ALL ON
    ARCHIVE_OUTPUT_DIRECTORY "${dataline_BINARY_DIR}/rooms")
  target_include_directories(${target} PUBLIC "${dataline_SOURCE_DIR}")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE dataline_library_flags ${OBJECTS_LIBRARIES})
  if(DATALINE_INTERLEAVE AND NOT target IN_LIST dataline_not_interleaved)
    dataline_interleave(${target})
  endif()
endfunction()

# dataline_together(TARGET [EXCEPT file...] [SIZE files]): its files are compiled many at a time where DATALINE_UNITY is ON, which
# takes a third of the time: most of it is reading the standard library's headers and compiling what they inline. So names without
# linkage are unique in a target, not in a file. Not together: files that Highway includes once for each processor, those that
# somebody links one by one, and those with flags of their own.
# Not CMake's UNITY_BUILD: its files name absolute paths, so that no checkout finds in a compiler cache what another one compiled.
function(dataline_together target)
  cmake_parse_arguments(TOGETHER "" "SIZE" "EXCEPT" ${ARGN})
  if(NOT DATALINE_UNITY)
    return()
  endif()
  if(NOT TOGETHER_SIZE)
    set(TOGETHER_SIZE 16)
  endif()
  # At the end of the folder's file, when all its sources and their flags are known. Deferred words are read then, in its scope.
  cmake_language(EVAL CODE
    "cmake_language(DEFER CALL dataline_unite [[${target}]] [[${TOGETHER_SIZE}]] [[${TOGETHER_EXCEPT};${dataline_planted}]])")
endfunction()

# dataline_unite(TARGET SIZE ALONE): files of the target become files that include up to SIZE of them, by paths from the root.
function(dataline_unite target size alone)
  get_target_property(sources ${target} SOURCES)
  set(kept "")
  set(united "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${dataline_SOURCE_DIR}" "${path}")
    set(flags "")
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS)
      get_source_file_property(given "${source}" ${property})
      if(given)
        list(APPEND flags ${given})
      endif()
    endforeach()
    if(NOT source MATCHES "\\.cpp$" OR flags OR source IN_LIST alone OR path IN_LIST alone)
      list(APPEND kept "${source}")
    else()
      list(APPEND united "#include \"${path}\"\n")
    endif()
  endforeach()
  list(LENGTH united count)
  if(count EQUAL 0)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(first RANGE 0 ${last} ${size})
    list(SUBLIST united ${first} ${size} group)
    list(JOIN group "" group)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${first}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${group}" @ONLY)
    list(APPEND kept "${file}")
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${kept}")
endfunction()

# dataline_room(NAME SOURCES file... [DEPENDS room...] [LIBRARIES target...] [ALONE file...]): one static library per room;
# a room links only what the include law lets it include, so the linker repeats the law.
# A room that uses a library which the static archive must leave out is compiled a second time, without it. ALONE: what
# dataline_together leaves out.
function(dataline_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES;ALONE" ${ARGN})
  set(target dataline_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  dataline_objects(${target} LIBRARIES ${ROOM_LIBRARIES})
  dataline_together(${target} EXCEPT ${ROOM_ALONE})
  foreach(dependency IN LISTS ROOM_DEPENDS)
    target_link_libraries(${target} PUBLIC dataline_${dependency})
  endforeach()

  set(archive_libraries ${ROOM_LIBRARIES})
  if(DATALINE_NOT_IN_ARCHIVE)
    list(REMOVE_ITEM archive_libraries ${DATALINE_NOT_IN_ARCHIVE})
  endif()
  set(archive_target ${target})
  if(NOT "${archive_libraries}" STREQUAL "${ROOM_LIBRARIES}")
    set(archive_target ${target}_archive)
    add_library(${archive_target} OBJECT ${ROOM_SOURCES})
    dataline_objects(${archive_target} LIBRARIES ${archive_libraries})
    dataline_together(${archive_target} EXCEPT ${ROOM_ALONE})
    target_compile_options(${archive_target} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
  endif()

  set_property(GLOBAL APPEND PROPERTY DATALINE_ROOMS ${target})
  set_property(GLOBAL APPEND PROPERTY DATALINE_ARCHIVE_ROOMS ${archive_target})
  set_property(GLOBAL APPEND PROPERTY DATALINE_ROOM_LIBRARIES ${ROOM_LIBRARIES})
endfunction()
