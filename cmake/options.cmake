# Every option of the project, and the only place where a synonym of one is understood.
#
# After this file each option of CONTRIBUTING.md is a variable with its final value, ON or OFF (XSIGMA_ENABLE_CUDA also AUTO), and
# XSIGMA_PROFILER_HAS_<part> is 1 or 0 for each part.

# The parts that exist in this version. A later change adds one by adding its word.
set(XSIGMA_PROFILER_PARTS KINETO CUDA)

# ON, OFF or AUTO for any spelling CMake knows. `allow_auto`: whether AUTO is a value of this option.
function(xsigma_profiler_normalise out name value allow_auto)
  string(TOUPPER "${value}" upper)
  if(allow_auto AND upper STREQUAL "AUTO")
    set(${out} AUTO PARENT_SCOPE)
  elseif(upper MATCHES "^(1|ON|YES|TRUE|Y)$")
    set(${out} ON PARENT_SCOPE)
  elseif(upper MATCHES "^(0|OFF|NO|FALSE|N|)$")
    set(${out} OFF PARENT_SCOPE)
  elseif(allow_auto)
    message(FATAL_ERROR "${name}=${value}: this option takes AUTO, ON or OFF.")
  else()
    message(FATAL_ERROR "${name}=${value}: this option takes ON or OFF.")
  endif()
endfunction()

# xsigma_profiler_option(<main> <default> <doc> [TRISTATE] [SYNONYMS <name>...] [INVERSES <name>...])
#
# Who decides, in this order: the main option where somebody set it; a synonym; the default. Two that somebody set and that differ are
# an error. "Somebody set it" must be told apart from "a former run of this file left it in the cache": a -D or a preset replaces the
# help text of the cache entry, an editor of the cache changes its value, and <main>_ORIGIN remembers what was found before.
function(xsigma_profiler_option main default doc)
  cmake_parse_arguments(PARSE_ARGV 3 arg "TRISTATE" "" "SYNONYMS;INVERSES")

  set(explicit FALSE)
  if(DEFINED CACHE{${main}})
    get_property(help CACHE ${main} PROPERTY HELPSTRING)
    if(NOT help STREQUAL doc
       OR "$CACHE{${main}_ORIGIN}" STREQUAL "explicit"
       OR NOT "$CACHE{${main}}" STREQUAL "$CACHE{${main}_RESOLVED}"
       OR NOT "${${main}}" STREQUAL "$CACHE{${main}}")
      set(explicit TRUE)
    endif()
  elseif(DEFINED ${main})
    set(explicit TRUE)  # a plain variable of the project that includes this one
  endif()

  if(explicit)
    xsigma_profiler_normalise(value ${main} "${${main}}" ${arg_TRISTATE})
    set(decided_by ${main})
    set(decided_as "${${main}}")
    set(origin explicit)
  else()
    set(value ${default})
    set(decided_by "")
    set(origin default)
  endif()

  foreach(synonym IN LISTS arg_SYNONYMS arg_INVERSES)
    if(NOT DEFINED ${synonym})
      continue()
    endif()
    set(allow_auto ${arg_TRISTATE})
    if(synonym IN_LIST arg_INVERSES)
      set(allow_auto FALSE)
    endif()
    xsigma_profiler_normalise(asked ${synonym} "${${synonym}}" ${allow_auto})
    set(meaning "another name of ${main}")
    if(synonym IN_LIST arg_INVERSES)
      set(meaning "the inverse of ${main}")
      if(asked STREQUAL "ON")
        set(asked OFF)
      else()
        set(asked ON)
      endif()
    endif()
    if(decided_by STREQUAL "")
      set(value ${asked})
      set(decided_by ${synonym})
      set(decided_as "${${synonym}}")
      set(origin synonym)
      message(STATUS "xsigma_profiler: ${synonym}=${${synonym}} sets ${main}=${value}")
    elseif(NOT asked STREQUAL value)
      message(FATAL_ERROR
        "xsigma_profiler: conflicting options: ${decided_by}=${decided_as} and ${synonym}=${${synonym}} (${meaning}). "
        "Set one of them, or both alike; -U${synonym} removes the latter from the cache of this build folder.")
    endif()
  endforeach()

  if(DEFINED CACHE{${main}} OR NOT DEFINED ${main})
    if(arg_TRISTATE)
      set(${main} ${value} CACHE STRING "${doc}" FORCE)
      set_property(CACHE ${main} PROPERTY STRINGS AUTO ON OFF)
    else()
      set(${main} ${value} CACHE BOOL "${doc}" FORCE)
    endif()
  endif()
  set(${main}_ORIGIN ${origin} CACHE INTERNAL "who decided ${main}")
  set(${main}_RESOLVED ${value} CACHE INTERNAL "what ${main} came to")
  set(${main} ${value} PARENT_SCOPE)
endfunction()

xsigma_profiler_option(XSIGMA_ENABLE_KINETO ON "Recording, captures and exporters" SYNONYMS USE_KINETO)
xsigma_profiler_option(XSIGMA_ENABLE_ITT ON "Tell ITT-aware tools about scopes" SYNONYMS USE_ITT XSIGMA_ENABLE_ITTAPI)
xsigma_profiler_option(XSIGMA_ENABLE_NVTX ON "Tell NVTX-aware tools about scopes")
xsigma_profiler_option(XSIGMA_ENABLE_CUDA AUTO "Record NVIDIA devices: AUTO, ON or OFF" TRISTATE
  SYNONYMS USE_CUDA INVERSES LIBKINETO_NOCUPTI)

foreach(flag IN ITEMS LIBKINETO_NOROCTRACER LIBKINETO_NOXPUPTI LIBKINETO_NOAIUPTI)
  if(DEFINED ${flag})
    message(STATUS "xsigma_profiler: ${flag}=${${flag}} is accepted and changes nothing: this version has no such backend, "
                   "and vendor libraries are never needed at build time.")
  endif()
endforeach()

# What a backend needs to be built is known in its own folder. A configure.cmake there looks for it, before it is settled which parts there are: it sets
# XSIGMA_PROFILER_MISSING_<part> to what is missing and what to do.
file(GLOB xsigma_profiler_hooks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/*/configure.cmake)
foreach(hook IN LISTS xsigma_profiler_hooks)
  include(${hook})
endforeach()
if(NOT XSIGMA_ENABLE_KINETO)
  set(XSIGMA_PROFILER_MISSING_CUDA "devices are recorded into captures, and XSIGMA_ENABLE_KINETO is off")
endif()

# XSIGMA_PROFILER_HAS_<part>: asked for, part of this version, and nothing missing.
foreach(part IN ITEMS KINETO ITT NVTX CUDA)
  set(XSIGMA_PROFILER_HAS_${part} 0)
  if(NOT part IN_LIST XSIGMA_PROFILER_PARTS)
    if(XSIGMA_ENABLE_${part} STREQUAL "ON" AND "$CACHE{XSIGMA_ENABLE_${part}_ORIGIN}" STREQUAL "explicit")
      message(WARNING "xsigma_profiler: ${part} was asked for: not part of this version yet; built without it.")
    else()
      message(STATUS "xsigma_profiler: ${part}: not part of this version yet")
    endif()
  elseif(XSIGMA_ENABLE_${part} AND XSIGMA_PROFILER_MISSING_${part})
    if(XSIGMA_ENABLE_${part} STREQUAL "ON")
      message(FATAL_ERROR "xsigma_profiler: XSIGMA_ENABLE_${part}=ON, but ${XSIGMA_PROFILER_MISSING_${part}}. "
                          "XSIGMA_ENABLE_${part}=AUTO builds without it.")
    endif()
    message(STATUS "xsigma_profiler: ${part}: off: ${XSIGMA_PROFILER_MISSING_${part}}")
  elseif(XSIGMA_ENABLE_${part})  # AUTO counts as on: vendor libraries are looked for at run time
    set(XSIGMA_PROFILER_HAS_${part} 1)
    message(STATUS "xsigma_profiler: ${part}: on")
  else()
    message(STATUS "xsigma_profiler: ${part}: off")
  endif()
endforeach()

# What is built beside the library. As a part of another project: the library alone.
option(XSIGMA_PROFILER_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(XSIGMA_PROFILER_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(XSIGMA_PROFILER_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(XSIGMA_PROFILER_BUILD_CLI "Build the command line, xsp" ${PROJECT_IS_TOP_LEVEL})
option(XSIGMA_PROFILER_BUILD_INJECT "Build libxsp_inject.so, which profiles programs that know nothing of it" ${PROJECT_IS_TOP_LEVEL})
option(XSIGMA_PROFILER_INSTALL "Install the library with the project" ${PROJECT_IS_TOP_LEVEL})
xsigma_profiler_option(XSIGMA_PROFILER_DEVICE_TESTS AUTO "Build the tests and benchmarks that a CUDA compiler is needed for: AUTO, ON or OFF" TRISTATE)
option(XSIGMA_PROFILER_WERROR "Warnings are errors" OFF)

set(XSIGMA_PROFILER_SANITIZE "" CACHE STRING "Sanitizers for everything built here: empty, address,undefined or thread")
set_property(CACHE XSIGMA_PROFILER_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

# Shared unless told; another project's silence is not written into its cache.
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build shared libraries" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
