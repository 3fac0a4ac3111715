# allranks_embed_knowledge(TARGET FUNCTION files...): a library whose FUNCTION gives the texts of the files, so that the
# tool is one binary. Run as a script (cmake -DOUTPUT=... -DFUNCTION=... -DFILES=... -P) it writes that library's source.
function(allranks_embed_knowledge target function)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFUNCTION=${function}" "-DFILES=${ARGN}" -P "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${ARGN} "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    COMMENT "Embedding knowledge for ${function}"
    VERBATIM)
  add_library(${target} STATIC "${output}")
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  list(LENGTH FILES count)
  set(entries "")
  foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(APPEND entries "    EmbeddedFile{\"${name}\", R\"__toml__(${text})__toml__\"},\n")
  endforeach()
  file(
    WRITE "${OUTPUT}"
    "#include \"analyzer/knowledge/embedded.h\"\n\n#include <array>\n\nnamespace allranks::knowledge {\n\n"
    "std::span<const EmbeddedFile> ${FUNCTION}() {\n  static constexpr std::array<EmbeddedFile, ${count}> kFiles = {\n"
    "${entries}  };\n  return kFiles;\n}\n\n}  // namespace allranks::knowledge\n")
endif()
