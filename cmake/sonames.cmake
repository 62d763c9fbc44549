# SPDX-License-Identifier: GPL-2.0-or-later
# Libraries that are loaded when they are first needed (src/base/dl.h) have other sonames on other
# releases of a distribution. The soname of each is read from the library that pkg-config found.

set(SONAMES "")

# soname(NAME LIBRARY DIR): adds SONAME_NAME, the soname of libLIBRARY in DIR, to the header. A
# soname that is given as -D VFCTL_SONAME_NAME=... is used as it is.
function(soname name library dir)
  if(NOT VFCTL_SONAME_${name})
    find_library(VFCTL_LIBRARY_${name} ${library} HINTS ${dir})
    if(VFCTL_LIBRARY_${name} AND CMAKE_OBJDUMP)
      execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${VFCTL_LIBRARY_${name}}
        OUTPUT_VARIABLE headers ERROR_QUIET)
    endif()
    if(NOT headers MATCHES "SONAME +([^ \n]+)")
      message(FATAL_ERROR "cannot read the soname of lib${library} "
        "(library: ${VFCTL_LIBRARY_${name}}, objdump: ${CMAKE_OBJDUMP}). "
        "Install its development package and binutils, or give the soname: "
        "-D VFCTL_SONAME_${name}=lib${library}.so.N")
    endif()
    set(VFCTL_SONAME_${name} ${CMAKE_MATCH_1})
    mark_as_advanced(VFCTL_LIBRARY_${name})
  endif()
  set(SONAMES "${SONAMES}#define SONAME_${name} \"${VFCTL_SONAME_${name}}\"\n" PARENT_SCOPE)
endfunction()

# optional_library(NAME LIBRARY MODULE SOURCE PURPOSE): finds MODULE with pkg-config unless -D
# VFCTL_NAME=OFF. Where it is missing, SOURCE is added to `absent`, and PURPOSE names what the build
# cannot do.
macro(optional_library name library module source purpose)
  option(VFCTL_${name} "use lib${library}: ${purpose}" ON)
  if(VFCTL_${name})
    pkg_check_modules(${name} ${module})
  endif()
  if(VFCTL_${name} AND ${name}_FOUND)
    soname(${name} ${library} "${${name}_LIBDIR}")
  else()
    list(APPEND absent ${source})
    message(STATUS "without ${module}: ${purpose}")
  endif()
endmacro()

# write_sonames(FILE)
function(write_sonames file)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
    "/* Made by cmake/sonames.cmake: the sonames of the libraries of this build. */\n@SONAMES@")
endfunction()
