# allranks_library(FOLDER [SOURCES file...] [DEPS folder...] [LINKS target...]
#                 [PRECOMPILE header... | PRECOMPILED_BY folder] [TESTS file...] [TEST_DEPS folder...])
#
# The one way in which a folder of ours becomes a library. `analyzer/ir` becomes the target
# allranks_analyzer_ir; without SOURCES it is header-only. DEPS are folders of ours, and tests/architecture
# compares them with the allowed directions; LINKS are libraries of others. PRECOMPILE names headers that nearly every
# source of the folder includes and that take longer to parse than the source itself: they are parsed once a folder, or
# once for it and those that say PRECOMPILED_BY it. A source still includes what it uses. TESTS become one test program,
# which may also use TEST_DEPS, whatever their direction: nothing depends on a test.
# SOURCES and TESTS are listed by name, in alphabetical order: what is built is what a reader sees.
include(GoogleTest)

function(allranks_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED_BY" "SOURCES;DEPS;LINKS;PRECOMPILE;TESTS;TEST_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "allranks_library(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  allranks_target(${folder} target)
  set(links ${arg_LINKS})
  foreach(dependency IN LISTS arg_DEPS)
    allranks_target(${dependency} dependency_target)
    if(NOT TARGET ${dependency_target})
      message(FATAL_ERROR "allranks_library(${folder}): no folder ${dependency} stands above it in the top CMakeLists.txt")
    endif()
    list(APPEND links ${dependency_target})
  endforeach()

  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${target} PUBLIC ${links} Threads::Threads PRIVATE allranks_warnings)
    if(arg_PRECOMPILE)
      list(TRANSFORM arg_PRECOMPILE REPLACE "^[^<].*" "${CMAKE_SOURCE_DIR}/\\0")
      target_precompile_headers(${target} PRIVATE ${arg_PRECOMPILE})
    elseif(arg_PRECOMPILED_BY)
      allranks_target(${arg_PRECOMPILED_BY} precompiled_by)
      target_precompile_headers(${target} REUSE_FROM ${precompiled_by})
    endif()
    if(ALLRANKS_QUICK_BUILD)
      allranks_build_quickly(${folder} ${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${target} INTERFACE ${links} Threads::Threads)
  endif()
  if(arg_TESTS AND BUILD_TESTING)
    allranks_test(${folder} ${target} "${arg_TESTS}" "${arg_TEST_DEPS}")
  endif()
endfunction()

# What lies outside the analysis takes no time of a run: it need not be optimised as much. The analysis keeps the groups of
# sources that it has in the other presets.
function(allranks_build_quickly folder target)
  if(NOT folder MATCHES "^(analyzer|frontends|rules)(/|$)")
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(NOT folder MATCHES "^(analyzer|frontends)/")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# The target of a folder.
function(allranks_target folder result)
  string(REPLACE "/" "_" name "allranks_${folder}")
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# Parsed once for all test programs.
function(allranks_precompiled_gtest)
  if(NOT TARGET allranks_gtest)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/allranks_gtest.cpp" CONTENT "")
    add_library(allranks_gtest OBJECT "${CMAKE_BINARY_DIR}/allranks_gtest.cpp")
    # The same options as the tests: GCC refuses a precompiled header made with others.
    target_link_libraries(allranks_gtest PRIVATE GTest::gmock Threads::Threads allranks_warnings)
    target_precompile_headers(allranks_gtest PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endfunction()

function(allranks_test folder target tests dependencies)
  allranks_precompiled_gtest()
  add_executable(${target}_test ${tests})
  target_precompile_headers(${target}_test REUSE_FROM allranks_gtest)
  foreach(dependency IN LISTS dependencies)
    # Such a folder may stand further down, so that its target is not there yet.
    allranks_target(${dependency} dependency_target)
    target_link_libraries(${target}_test PRIVATE ${dependency_target})
  endforeach()
  target_link_libraries(${target}_test PRIVATE ${target} allranks_warnings GTest::gmock GTest::gtest_main)
  # Asked for its tests when ctest starts, not while building: a crash at start-up is then a failed test.
  gtest_discover_tests(${target}_test TEST_PREFIX "${folder}/" DISCOVERY_MODE PRE_TEST)
endfunction()
