# Toolchain file: Clang 19 compiles for 64-bit Arm against the packages that tools/cross_aarch64 has put into ALLRANKS_SYSROOT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(ALLRANKS_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot" CACHE PATH "packages of the machine that is built for")
get_filename_component(CMAKE_SYSROOT "${ALLRANKS_SYSROOT}" ABSOLUTE)
# CMake configures its own trials of the compiler by this file as well.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ALLRANKS_SYSROOT)

set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_ASM_COMPILER clang-19)
foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()

# The machine's own linker knows no other machines.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=mold)
else()
  set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
endif()

# Libraries, headers and CMake files of that machine; programs of this one. What is built and has to run, runs emulated.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${CMAKE_SYSROOT}")
