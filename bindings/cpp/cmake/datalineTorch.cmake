# dataline::torch: dataline_torch.hpp, that is dataline::cpp and LibTorch. Defined where LibTorch is found:
#   - the target `torch` of a project that called find_package(Torch) before;
#   - else the folder Torch_ROOT (variable or environment): an unzipped libtorch, or site-packages/torch of a wheel;
#   - else the system's (Debian: libtorch-dev).
# The last two are found by file: find_package(Torch) of a wheel wants a whole CUDA toolkit. CUDA's half comes with them
# where its libraries and the headers of the CUDA run-time are (a toolkit, or the wheels nvidia-cuda-runtime and
# nvidia-cuda-crt beside torch).
if(TARGET dataline::torch)
  return()
endif()
if(TARGET torch)
  add_library(dataline::torch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(dataline::torch INTERFACE dataline::cpp torch)
  return()
endif()

set(dataline_torch_root "${Torch_ROOT}")
if(NOT dataline_torch_root)
  set(dataline_torch_root "$ENV{Torch_ROOT}")
endif()
# A root that was named is looked at alone: another LibTorch of the machine would be a surprise.
set(dataline_torch_where "")
if(dataline_torch_root)
  set(dataline_torch_where NO_DEFAULT_PATH)
endif()
foreach(part "INCLUDE;ATen/core/Tensor.h" "API_INCLUDE;torch/version.h")
  list(GET part 0 name)
  list(GET part 1 header)
  find_path(DATALINE_TORCH_${name} ${header} HINTS ${dataline_torch_root}
    PATH_SUFFIXES include torch/csrc/api/include include/torch/csrc/api/include ${dataline_torch_where})
endforeach()
find_library(DATALINE_TORCH_CPU torch_cpu HINTS ${dataline_torch_root} PATH_SUFFIXES lib ${dataline_torch_where})
find_library(DATALINE_TORCH_C10 c10 HINTS ${dataline_torch_root} PATH_SUFFIXES lib ${dataline_torch_where})
mark_as_advanced(DATALINE_TORCH_INCLUDE DATALINE_TORCH_API_INCLUDE DATALINE_TORCH_CPU DATALINE_TORCH_C10)

if(DATALINE_TORCH_INCLUDE AND DATALINE_TORCH_API_INCLUDE AND DATALINE_TORCH_CPU AND DATALINE_TORCH_C10)
  # Newer ones moved the numbers from torch/version.h.
  set(dataline_torch_version "")
  foreach(file "${DATALINE_TORCH_API_INCLUDE}/torch/version.h" "${DATALINE_TORCH_INCLUDE}/torch/headeronly/version.h")
    if(EXISTS "${file}")
      file(STRINGS "${file}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR) ")
      string(APPEND dataline_torch_version "${lines}")
    endif()
  endforeach()
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*" "\\1.\\2" dataline_torch_version "${dataline_torch_version}")
  add_library(dataline::torch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(dataline::torch INTERFACE dataline::cpp "${DATALINE_TORCH_CPU}" "${DATALINE_TORCH_C10}")
  target_include_directories(dataline::torch SYSTEM INTERFACE
    "${DATALINE_TORCH_INCLUDE}" "${DATALINE_TORCH_API_INCLUDE}")
  if(dataline_torch_version VERSION_GREATER_EQUAL 2.9)  # its headers say C++20
    target_compile_features(dataline::torch INTERFACE cxx_std_20)
  endif()
  # CUDA's half, by what a CUDA build of LibTorch alone has: its settings' header and libraries.
  find_path(DATALINE_TORCH_CUDART_INCLUDE crt/host_defines.h HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    "${dataline_torch_root}/../nvidia/cu13" "${dataline_torch_root}/../nvidia/cuda_runtime" PATH_SUFFIXES include)
  foreach(part torch_cuda c10_cuda)
    string(TOUPPER ${part} name)
    find_library(DATALINE_${name}_LIBRARY ${part} HINTS ${dataline_torch_root} PATH_SUFFIXES lib ${dataline_torch_where})
    mark_as_advanced(DATALINE_${name}_LIBRARY)
  endforeach()
  mark_as_advanced(DATALINE_TORCH_CUDART_INCLUDE)
  if(DATALINE_TORCH_CUDA_LIBRARY AND DATALINE_C10_CUDA_LIBRARY AND DATALINE_TORCH_CUDART_INCLUDE
      AND EXISTS "${DATALINE_TORCH_CUDART_INCLUDE}/cuda_runtime_api.h"
      AND EXISTS "${DATALINE_TORCH_INCLUDE}/c10/cuda/impl/cuda_cmake_macros.h")
    target_compile_definitions(dataline::torch INTERFACE DATALINE_TORCH_CUDA=1)
    target_include_directories(dataline::torch SYSTEM INTERFACE "${DATALINE_TORCH_CUDART_INCLUDE}")
    # torch_cuda registers its kernels when it is loaded; no name of it is called.
    target_link_libraries(dataline::torch INTERFACE "${DATALINE_C10_CUDA_LIBRARY}"
      "-Wl,--push-state,--no-as-needed,${DATALINE_TORCH_CUDA_LIBRARY},--pop-state")
  else()
    target_compile_definitions(dataline::torch INTERFACE DATALINE_TORCH_CUDA=0)
  endif()
  # A wheel's libtorch_cpu.so finds the wheels it needs by its own run path, which the linker does not follow.
  target_link_options(dataline::torch INTERFACE "-Wl,--unresolved-symbols=ignore-in-shared-libs")
endif()
