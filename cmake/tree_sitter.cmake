# The parser and its grammars of Python, of the shell and of C++, from the C sources in their npm packages (third_party/package.json).

set(THIRD_PARTY "${CMAKE_SOURCE_DIR}/third_party/node_modules")
set(TREE_SITTER_CORE "${THIRD_PARTY}/tree-sitter/vendor/tree-sitter/lib")
set(TREE_SITTER_PYTHON "${THIRD_PARTY}/tree-sitter-python")
set(TREE_SITTER_BASH "${THIRD_PARTY}/tree-sitter-bash")
set(TREE_SITTER_CPP "${THIRD_PARTY}/tree-sitter-cpp")
foreach(file "${TREE_SITTER_CORE}/src/lib.c" "${TREE_SITTER_PYTHON}/src/parser.c" "${TREE_SITTER_BASH}/src/parser.c"
             "${TREE_SITTER_CPP}/src/parser.c")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "the tree-sitter sources are missing: run tools/setup, or `npm ci` in third_party/")
  endif()
endforeach()

add_library(tree_sitter STATIC "${TREE_SITTER_CORE}/src/lib.c")
target_include_directories(tree_sitter SYSTEM PUBLIC "${TREE_SITTER_CORE}/include")
target_include_directories(tree_sitter PRIVATE "${TREE_SITTER_CORE}/src")
# lib.c uses endian.h and fdopen, which strict C11 hides.
target_compile_definitions(tree_sitter PRIVATE _DEFAULT_SOURCE _POSIX_C_SOURCE=200112L)
target_compile_features(tree_sitter PRIVATE c_std_11)
# The scanners of grammars are called through `void *(*)()`, which Clang's sanitizer takes for a call of another type: each fuzz target would
# end with its first text.
target_compile_options(tree_sitter PRIVATE $<$<C_COMPILER_ID:Clang>:-fno-sanitize=function>)

# Whether a block ends before a comment, the scanner sees in what stands behind all comments that follow, and it looks at each of them: a
# square of their number. Ours looks past no more than some: where more follow, a block goes on to the last ones.
set(TREE_SITTER_PYTHON_SCANNER "${CMAKE_BINARY_DIR}/tree_sitter_python/scanner.c")
set(LOOKS_PAST_COMMENTS "                first_comment_indent_length = (int32_t)indent_length;
            }
")
file(READ "${TREE_SITTER_PYTHON}/src/scanner.c" scanner)
string(REPLACE "${LOOKS_PAST_COMMENTS}" "${LOOKS_PAST_COMMENTS}            if (++comments > 64) {
                if (valid_symbols[INDENT] || !valid_symbols[NEWLINE] || error_recovery_mode) {
                    return false;
                }
                lexer->result_symbol = NEWLINE;
                return true;
            }
" bounded "${scanner}")
string(REPLACE "    int32_t first_comment_indent_length = -1;
" "    int32_t first_comment_indent_length = -1;
    int comments = 0;
" bounded "${bounded}")
string(FIND "${bounded}" "++comments" uses)
string(FIND "${bounded}" "int comments" declares)
if(uses EQUAL -1 OR declares EQUAL -1)
  message(FATAL_ERROR "the scanner of tree-sitter-python is another than cmake/tree_sitter.cmake knows: adapt what bounds its look past comments")
endif()
file(CONFIGURE OUTPUT "${TREE_SITTER_PYTHON_SCANNER}" CONTENT "${bounded}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${TREE_SITTER_PYTHON}/src/scanner.c")

add_library(tree_sitter_python STATIC "${TREE_SITTER_PYTHON}/src/parser.c" "${TREE_SITTER_PYTHON_SCANNER}")
target_include_directories(tree_sitter_python PRIVATE "${TREE_SITTER_PYTHON}/src")
target_link_libraries(tree_sitter_python PUBLIC tree_sitter)
target_compile_features(tree_sitter_python PRIVATE c_std_11)

add_library(tree_sitter_bash STATIC "${TREE_SITTER_BASH}/src/parser.c" "${TREE_SITTER_BASH}/src/scanner.c")
target_include_directories(tree_sitter_bash PRIVATE "${TREE_SITTER_BASH}/src")
target_link_libraries(tree_sitter_bash PUBLIC tree_sitter)
target_compile_features(tree_sitter_bash PRIVATE c_std_11)

add_library(tree_sitter_cpp STATIC "${TREE_SITTER_CPP}/src/parser.c" "${TREE_SITTER_CPP}/src/scanner.c")
target_include_directories(tree_sitter_cpp PRIVATE "${TREE_SITTER_CPP}/src")
target_link_libraries(tree_sitter_cpp PUBLIC tree_sitter)
target_compile_features(tree_sitter_cpp PRIVATE c_std_11)

# A parser and its scanner are not written to stand in one file.
set_target_properties(tree_sitter_python tree_sitter_bash tree_sitter_cpp PROPERTIES UNITY_BUILD OFF)
