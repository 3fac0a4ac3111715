# Libraries from Debian packages; `tools/setup` installs them. A library of ours names those it needs in LINKS.

function(allranks_find package)
  find_package(${package} QUIET CONFIG)
  if(NOT ${package}_FOUND)
    allranks_missing(${package})
  endif()
endfunction()

function(allranks_find_header name)
  find_path(HEADER_OF_${name} ${ARGN})
  if(NOT HEADER_OF_${name})
    allranks_missing(${name})
  endif()
endfunction()

function(allranks_missing name)
  message(FATAL_ERROR "the library ${name} is missing: run tools/setup, which installs it or names its package")
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
allranks_find(nlohmann_json)
if(BUILD_TESTING)
  allranks_find(GTest)
endif()

# Of fmt and toml++ Debian has the headers and a shared library. Compiled here, the binary needs neither.
allranks_find_header(fmt fmt/format-inl.h)
add_library(fmt STATIC "${CMAKE_SOURCE_DIR}/third_party/fmt.cpp")
add_library(fmt::fmt ALIAS fmt)

if(ALLRANKS_VERIFY_ONLY)
  return()
endif()

allranks_find(CLI11)
allranks_find(tl-expected)

allranks_find_header(tomlplusplus toml++/toml.h)
add_library(tomlplusplus STATIC "${CMAKE_SOURCE_DIR}/third_party/toml.cpp")
target_compile_definitions(tomlplusplus PUBLIC TOML_HEADER_ONLY=0)
add_library(tomlplusplus::tomlplusplus ALIAS tomlplusplus)

# The header of xxHash is enough.
allranks_find_header(xxhash xxhash.h)
add_library(xxhash INTERFACE)
target_compile_definitions(xxhash INTERFACE XXH_INLINE_ALL)

# allranks_find_archive(NAME HEADER FILE): the target NAME. Debian's CMake files name the shared library; the static one keeps the
# binary free of it. Where there is none (Red Hat, Homebrew, conda-forge) the shared one is taken.
function(allranks_find_archive name header file)
  allranks_find_header(${name} ${header})
  find_library(LIBRARY_OF_${name} NAMES lib${file}.a ${file})
  if(NOT LIBRARY_OF_${name})
    allranks_missing(${name})
  endif()
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE "${LIBRARY_OF_${name}}")
endfunction()

allranks_find_archive(yaml_cpp yaml-cpp/parser.h yaml-cpp)
# Marks entries of the cache, so that nobody else can make any.
allranks_find_archive(sodium sodium.h sodium)
