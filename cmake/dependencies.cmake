# Libraries from Debian packages; `tools/setup` installs them. A library of ours names those it needs in LINKS.

function(allranks_find package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "the library ${package} is missing: run tools/setup, which installs it or names its package")
  endif()
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
allranks_find(fmt CONFIG)
allranks_find(nlohmann_json CONFIG)
allranks_find(CLI11 CONFIG)
allranks_find(tomlplusplus CONFIG)
allranks_find(tl-expected CONFIG)

# xxHash comes without a CMake package; its header alone is enough when inlined (XXH_INLINE_ALL).
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "the library xxHash is missing: run tools/setup, which installs it or names its package")
endif()
add_library(xxhash INTERFACE)
target_compile_definitions(xxhash INTERFACE XXH_INLINE_ALL)

if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  allranks_find(GTest CONFIG)
endif()
find_package(benchmark CONFIG QUIET)
