# What `allranks --version` says besides the number: the commit, and the versions of what reads code. Set for the one
# source that prints it: another commit compiles one file.

# Of a source archive there is no commit.
set(ALLRANKS_COMMIT "")
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${CMAKE_SOURCE_DIR}" describe --always --dirty --match ""
                  OUTPUT_VARIABLE ALLRANKS_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

set(ALLRANKS_GRAMMARS "")
file(READ "${CMAKE_SOURCE_DIR}/third_party/package.json" packages)
foreach(name IN ITEMS tree-sitter tree-sitter-python)
  string(JSON number GET "${packages}" dependencies ${name})
  list(APPEND ALLRANKS_GRAMMARS "${name} ${number}")
endforeach()
list(JOIN ALLRANKS_GRAMMARS ", " ALLRANKS_GRAMMARS)

# Each is set by the folder that looks for it.
get_property(ALLRANKS_LLVM GLOBAL PROPERTY ALLRANKS_LLVM)
get_property(ALLRANKS_GLOO GLOBAL PROPERTY ALLRANKS_GLOO)
set(definitions "")
foreach(name IN ITEMS COMMIT GRAMMARS LLVM GLOO)
  list(APPEND definitions "ALLRANKS_${name}=\"${ALLRANKS_${name}}\"")
endforeach()
set_source_files_properties(version.cpp PROPERTIES COMPILE_DEFINITIONS "${definitions}" SKIP_PRECOMPILE_HEADERS ON)
