# Toolchain file: 64-bit Windows from Linux, by Debian's g++-mingw-w64-x86-64-posix. Used by the preset `windows`; what is built
# runs under wine64. Everything of the compiler is linked statically: a program needs no DLL but Windows' own (and libdataline.dll).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -static)
endforeach()

# Headers and libraries of the machine that builds are not taken; a folder with those for Windows: CMAKE_PREFIX_PATH.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${CMAKE_PREFIX_PATH})
find_program(DATALINE_WINE wine64 PATHS /usr/lib/wine)
mark_as_advanced(DATALINE_WINE)
if(DATALINE_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DATALINE_WINE})
endif()
