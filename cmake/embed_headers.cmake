# allranks_embed_headers(OUTPUT RESOURCE_DIR STANDIN_DIR): writes an assembler file with Clang's builtin headers and our stand-ins
# in it, which frontends/cpp/clang/embedded_headers.h reads.
function(allranks_embed_headers output resource_dir standin_dir)
  # Of target intrinsics only those of x86-64 and plain C: the others are ten times as large as all else.
  file(GLOB builtin CONFIGURE_DEPENDS RELATIVE "${resource_dir}/include" "${resource_dir}/include/*.h"
       "${resource_dir}/include/cuda_wrappers/*" "${resource_dir}/include/cuda_wrappers/bits/*")
  list(FILTER builtin EXCLUDE REGEX "^(arm_|riscv|altivec|vecintrin|hexagon|hvx|opencl|s390|ppc|wasm|lasx|lsx|sifive|mve|velintrin|msa)")
  file(GLOB_RECURSE standin CONFIGURE_DEPENDS RELATIVE "${standin_dir}" "${standin_dir}/*")
  set(names "")
  set(data "")
  set(table "")
  set(number 0)
  foreach(file IN LISTS builtin)
    list(APPEND files "clang/include/${file}|${resource_dir}/include/${file}")
  endforeach()
  foreach(file IN LISTS standin)
    list(APPEND files "standin/${file}|${standin_dir}/${file}")
  endforeach()
  foreach(pair IN LISTS files)
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 path)
    if(IS_DIRECTORY "${path}")
      continue()
    endif()
    string(APPEND names "n${number}: .asciz \"${name}\"\n")
    string(APPEND data "d${number}: .incbin \"${path}\"\ne${number}: .byte 0\n")
    string(APPEND table ".quad n${number}, d${number}, e${number} - d${number}\n")
    list(APPEND paths "${path}")
    math(EXPR number "${number} + 1")
  endforeach()
  # Names of C begin with an underscore there, and addresses that the loader fills in stand in a section of their own.
  if(APPLE)
    set(texts ".const")
    set(addresses ".section __DATA,__const")
    set(prefix "_")
    set(stack "")
  else()
    set(texts ".section .rodata")
    set(addresses ".section .data.rel.ro, \"aw\"")
    set(prefix "")
    set(stack ".section .note.GNU-stack, \"\"")
  endif()
  # Only written when something changed: its time decides what is rebuilt.
  file(CONFIGURE OUTPUT "${output}" CONTENT
"${texts}
${names}${data}
${addresses}
.balign 8
.globl ${prefix}allranks_embedded_headers
${prefix}allranks_embedded_headers:
${table}.globl ${prefix}allranks_embedded_header_count
${prefix}allranks_embedded_header_count: .quad ${number}
${stack}
" @ONLY)
  set_property(SOURCE "${output}" APPEND PROPERTY OBJECT_DEPENDS "${paths}")
endfunction()
