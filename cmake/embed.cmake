# allranks_embed_licences(TARGET files...): a library whose EmbeddedLicences gives the texts of the files, so that the
# tool is one binary. Run as a script (cmake -DOUTPUT=... -DFILES=... -P) it writes that library's source.
function(allranks_embed_licences target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFILES=${ARGN}" -P "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${ARGN} "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    COMMENT "Embedding licences"
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
    string(APPEND entries "    EmbeddedFile{\"${name}\", R\"__text__(${text})__text__\"},\n")
  endforeach()
  file(
    WRITE "${OUTPUT}"
    "#include \"driver/cli/licences.h\"\n\n#include <array>\n\nnamespace allranks::cli {\n\n"
    "std::span<const EmbeddedFile> EmbeddedLicences() {\n  static constexpr std::array<EmbeddedFile, ${count}> kFiles = {\n"
    "${entries}  };\n  return kFiles;\n}\n\n}  // namespace allranks::cli\n")
endif()
