# The device's kernels, compiled by the CUDA compiler into one fat binary that the library holds (no CUDA library is
# linked). Without the compiler everything runs on the host, and dl_build_info() has no "cuda-kernels".

set(DATALINE_WITH_CUDA AUTO CACHE STRING "Compile the kernels with nvcc: AUTO, ON or OFF")
set_property(CACHE DATALINE_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)
# Code for a generation runs on the later members of it (8.0 on 8.6 and 8.9); PTX of the first is for those to come.
set(DATALINE_CUDA_ARCHITECTURES 75 80 90 100 120 CACHE STRING "Compute capabilities to compile kernels for")
mark_as_advanced(DATALINE_CUDA_ARCHITECTURES)

add_library(dataline_with_cuda INTERFACE)
set_target_properties(dataline_with_cuda PROPERTIES DATALINE_FEATURE "" DATALINE_LINK_NAME "")
set(DATALINE_HAS_CUDA FALSE)

# Sets DATALINE_NVCC_FLAGS to what this nvcc takes, or DATALINE_NVCC_FAULT to why it is of no use.
function(dataline_probe_nvcc)
  set(host_compiler "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(host_compiler -ccbin ${CMAKE_CXX_COMPILER})
  endif()
  execute_process(COMMAND ${DATALINE_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_VARIABLE fault RESULT_VARIABLE status)
  set(code "")
  set(least "")
  foreach(architecture IN LISTS DATALINE_CUDA_ARCHITECTURES)
    if("${known}" MATCHES "compute_${architecture}\n")
      list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
      if(NOT least)
        set(least ${architecture})
      endif()
    endif()
  endforeach()
  execute_process(COMMAND ${DATALINE_NVCC} --help OUTPUT_VARIABLE help ERROR_QUIET)
  set(compression -Xfatbin=-compress-all)
  if("${help}" MATCHES "--compress-mode")
    set(compression --compress-mode=size)  # a third smaller
  endif()
  if(least)
    # -fmad=false: as -ffp-contract=off on the host, products and sums are rounded apart.
    set(flags -std=c++17 -O3 --threads 2 -fmad=false ${compression} ${host_compiler} ${code}
      -gencode arch=compute_${least},code=compute_${least})
    set(probe "${PROJECT_BINARY_DIR}/CMakeFiles/dataline_nvcc_probe")
    file(WRITE "${probe}.cu" "extern \"C\" __global__ void probe(const __grid_constant__ int x, int *y) { *y = x; }\n")
    execute_process(COMMAND ${DATALINE_NVCC} ${flags} -fatbin -o "${probe}.fatbin" "${probe}.cu"
      OUTPUT_QUIET ERROR_VARIABLE fault RESULT_VARIABLE status)
  else()
    set(status "it knows none of ${DATALINE_CUDA_ARCHITECTURES}")
  endif()
  if(NOT status EQUAL 0)
    set(flags "")
    if(NOT fault)
      set(fault ${status})
    endif()
  else()
    set(fault "")
  endif()
  set(DATALINE_NVCC_FLAGS "${flags}" CACHE INTERNAL "")
  set(DATALINE_NVCC_FAULT "${fault}" CACHE INTERNAL "")
endfunction()

if(NOT DATALINE_WITH_CUDA STREQUAL "OFF")
  find_program(DATALINE_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "The CUDA compiler")
  mark_as_advanced(DATALINE_NVCC)
  if(DATALINE_NVCC)
    set(probed "${DATALINE_NVCC} ${CMAKE_CXX_COMPILER} ${DATALINE_CUDA_ARCHITECTURES}")
    if(NOT "${DATALINE_NVCC_PROBED}" STREQUAL "${probed}")
      dataline_probe_nvcc()
      set(DATALINE_NVCC_PROBED "${probed}" CACHE INTERNAL "")
    endif()
    if(DATALINE_NVCC_FLAGS)
      set(DATALINE_HAS_CUDA TRUE)
      set_target_properties(dataline_with_cuda PROPERTIES DATALINE_FEATURE cuda-kernels)
    elseif(DATALINE_WITH_CUDA STREQUAL "ON")
      message(FATAL_ERROR "DATALINE_WITH_CUDA=ON, but ${DATALINE_NVCC} does not compile: ${DATALINE_NVCC_FAULT}")
    else()
      message(STATUS "Kernels are left out: ${DATALINE_NVCC} does not compile: ${DATALINE_NVCC_FAULT}")
    endif()
  elseif(DATALINE_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "DATALINE_WITH_CUDA=ON, but nvcc was not found (core/device/kernels/toolkit.sh gets one)")
  endif()
endif()

# dataline_kernels(SOURCE HOLDER): compiles SOURCE; HOLDER, a C++ file of this folder, takes the result in.
function(dataline_kernels source holder)
  if(NOT DATALINE_HAS_CUDA)
    return()
  endif()
  set(image "${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin")
  get_filename_component(folder "${source}" DIRECTORY)
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h")
  add_custom_command(OUTPUT "${image}"
    COMMAND ${DATALINE_NVCC} ${DATALINE_NVCC_FLAGS} -fatbin -I "${dataline_SOURCE_DIR}" -o "${image}"
      "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" ${headers} "${DATALINE_NVCC}" VERBATIM
    COMMENT "Compiling the device's kernels")
  set_source_files_properties(${holder} PROPERTIES
    COMPILE_DEFINITIONS "DATALINE_KERNEL_IMAGE=\"${image}\"" OBJECT_DEPENDS "${image}")
endfunction()
