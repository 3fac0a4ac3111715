# How every target is compiled and linked. The presets choose between these settings; none of them changes
# what the program answers.

option(ALLRANKS_WARNINGS_AS_ERRORS "stop at the first compiler warning" OFF)
option(ALLRANKS_QUICK_BUILD "compile in less time: what is not the analysis is optimised less, in larger groups of sources" OFF)
set(ALLRANKS_SANITIZERS "" CACHE STRING "sanitizers, as -fsanitize= wants them: address,undefined or thread")

# -g1 keeps line numbers for stack traces at a third of the compile time and size of full debug information.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# A parser compiled without optimisation would be most of the time of every test.
set(CMAKE_C_FLAGS_DEBUG "-O2 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-fdiagnostics-color=auto)
# The same sources give the same binary wherever they lie.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")

# What a libFuzzer program runs through is told by counters in all of its code.
option(ALLRANKS_FUZZ "build the libFuzzer programs (Clang only)" OFF)
if(ALLRANKS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(ALLRANKS_SANITIZERS)
  add_compile_options("-fsanitize=${ALLRANKS_SANITIZERS}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${ALLRANKS_SANITIZERS}")
elseif(NOT APPLE)
  # One file that runs on any machine with the same C library.
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

# Programs link it: what they ask of glibc then is 2.34, whatever newer one they were built with (third_party/old_glibc.c).
add_library(old_glibc INTERFACE)
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(_dl_find_object dlfcn.h HAS_DL_FIND_OBJECT)
unset(CMAKE_REQUIRED_DEFINITIONS)
if(HAS_DL_FIND_OBJECT AND NOT ALLRANKS_SANITIZERS)
  add_library(old_glibc_objects OBJECT "${CMAKE_SOURCE_DIR}/third_party/old_glibc.c")
  target_sources(old_glibc INTERFACE $<TARGET_OBJECTS:old_glibc_objects>)
endif()

# By it the program knows what an earlier build of it kept (driver/pipeline/module_cache.h). Apple's linker always leaves one.
if(NOT APPLE)
  add_link_options(-Wl,--build-id)
endif()

# libc++ before version 20 has std::stop_token only if it is asked for.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -std=c++20)
check_cxx_source_compiles("#include <stop_token>\nint main() { std::stop_source source; return source.stop_requested(); }" HAS_STOP_TOKEN)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT HAS_STOP_TOKEN)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fexperimental-library>")
  add_link_options(-fexperimental-library)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  # Without this sloppiness ccache passes over whatever uses a precompiled header. Depend mode takes the contents of the
  # headers for the key: else preprocessed text is, in which a comment does not count, while GCC compares the precompiled
  # header with the whole files, and reads those that differ a second time.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 "${CCACHE_PROGRAM}")
endif()

find_program(MOLD_PROGRAM mold)
find_program(LLD_PROGRAM ld.lld)
if(APPLE)
  # Its own linker is fast.
elseif(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
elseif(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

# Our own code only: headers of others and the generated parsers are not ours to fix.
add_library(allranks_warnings INTERFACE)
target_compile_options(
  allranks_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wimplicit-fallthrough
            # Designated initialisers leave out what keeps its default: that is their point.
            -Wno-missing-field-initializers)
# GCC 12 sees overflows in `std::string + text` that are not there (gcc.gnu.org/PR105651), and in precompiled headers it
# forgets that they are the system's.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(allranks_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endif()
if(ALLRANKS_WARNINGS_AS_ERRORS)
  target_compile_options(allranks_warnings INTERFACE -Werror)
endif()
