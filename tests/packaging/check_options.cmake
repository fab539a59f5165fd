# Options and their synonyms, by configuring the project (nothing is built): what must have an effect has it, what conflicts is refused.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

# Configures the build folder BINARY/<folder>; <result> and <output> are left for the caller. A known folder is configured again.
macro(configure folder)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${ROOT} -B ${BINARY}/${folder} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DXSIGMA_PROFILER_BUILD_TESTS=OFF -DXSIGMA_PROFILER_BUILD_BENCHMARKS=OFF
      -DXSIGMA_PROFILER_BUILD_EXAMPLES=OFF -DXSIGMA_PROFILER_BUILD_CLI=OFF ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(case "${folder}: ${ARGN}")
endmacro()

function(expect_configured)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "[${case}] was refused: ${output}")
  endif()
endfunction()

function(expect_refused)
  if(result EQUAL 0)
    message(SEND_ERROR "[${case}] was accepted")
  endif()
  expect_said(${ARGN})
endfunction()

function(expect_said)
  foreach(text IN LISTS ARGN)
    string(FIND "${output}" "${text}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "[${case}] did not say '${text}' but: ${output}")
    endif()
  endforeach()
endfunction()

function(expect_in_build folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PRESENT;ABSENT")
  file(READ ${BINARY}/${folder}/compile_commands.json commands)
  foreach(text IN LISTS arg_PRESENT)
    string(FIND "${commands}" "${text}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "[${case}] '${text}' is missing from the compiler's command lines")
    endif()
  endforeach()
  foreach(text IN LISTS arg_ABSENT)
    string(FIND "${commands}" "${text}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "[${case}] '${text}' must not be on the compiler's command lines")
    endif()
  endforeach()
endfunction()

set(with_recording PRESENT -DXSIGMA_HAS_KINETO=1 -DXSIGMA_ENABLE_KINETO=1 -DUSE_KINETO=1 collect/recording.cpp
  ABSENT collect/recording_off.cpp)
set(without_recording PRESENT -DXSIGMA_HAS_KINETO=0 collect/recording_off.cpp
  ABSENT -DXSIGMA_ENABLE_KINETO -DUSE_KINETO collect/recording.cpp)

file(REMOVE_RECURSE ${BINARY})

# A synonym given to a build folder that was configured before, with the defaults: no conflict with what the cache holds.
configure(defaults)
expect_configured()
expect_in_build(defaults ${with_recording})
expect_said("ITT: not part of this version yet")
configure(defaults -DUSE_KINETO=OFF)
expect_configured()
expect_in_build(defaults ${without_recording})
configure(defaults)
expect_configured()
expect_in_build(defaults ${without_recording})
configure(defaults -DUSE_KINETO=ON)
expect_configured()
expect_in_build(defaults ${with_recording})
configure(defaults -DUSE_KINETO=OFF -DXSIGMA_ENABLE_KINETO=OFF)
expect_configured()
expect_in_build(defaults ${without_recording})

# The main option and a synonym against it: at once, and one after the other.
configure(conflict -DXSIGMA_ENABLE_KINETO=ON -DUSE_KINETO=OFF)
expect_refused("XSIGMA_ENABLE_KINETO=ON" "USE_KINETO=OFF")
configure(conflict -UUSE_KINETO)
expect_configured()
configure(conflict -DUSE_KINETO=0)
expect_refused("XSIGMA_ENABLE_KINETO=ON" "USE_KINETO=0")
configure(later)
expect_configured()
configure(later -DXSIGMA_ENABLE_KINETO=ON -DUSE_KINETO=OFF)  # the value that the cache holds by default, but now somebody says it
expect_refused("XSIGMA_ENABLE_KINETO=ON" "USE_KINETO=OFF")

# Two synonyms against each other; the inverse one; the others that are only answered.
configure(synonyms -DUSE_ITT=ON -DXSIGMA_ENABLE_ITTAPI=OFF)
expect_refused("USE_ITT=ON" "XSIGMA_ENABLE_ITTAPI=OFF")
configure(synonyms -UUSE_ITT -DUSE_CUDA=ON -DLIBKINETO_NOCUPTI=ON)
expect_refused("USE_CUDA=ON" "LIBKINETO_NOCUPTI=ON")
configure(synonyms -DUSE_CUDA=OFF -DLIBKINETO_NOROCTRACER=ON -DLIBKINETO_NOXPUPTI=ON -DLIBKINETO_NOAIUPTI=ON)
expect_configured()
expect_said("LIBKINETO_NOROCTRACER=ON" "LIBKINETO_NOXPUPTI=ON" "LIBKINETO_NOAIUPTI=ON" "USE_CUDA=OFF sets XSIGMA_ENABLE_CUDA=OFF")
configure(synonyms -DXSIGMA_ENABLE_ITT=ON -UXSIGMA_ENABLE_ITTAPI)
expect_configured()
expect_said("ITT was asked for: not part of this version yet")
configure(synonyms -DXSIGMA_ENABLE_CUDA=maybe)
expect_refused("XSIGMA_ENABLE_CUDA=maybe" "AUTO, ON or OFF")

# NVIDIA devices: what is compiled depends on the vendor's headers.
configure(cuda -DXSIGMA_CUPTI_ROOT=${BINARY}/nothing)
expect_configured()
expect_said("CUDA: off: no headers of CUPTI" "-DXSIGMA_CUPTI_ROOT=")
set(without_cuda PRESENT -DXSIGMA_HAS_CUDA=0 backends/cupti/cupti_off.cpp ABSENT -DXSIGMA_ENABLE_CUDA backends/cupti/worker.cpp)
expect_in_build(cuda ${without_cuda})
configure(cuda -DXSIGMA_ENABLE_CUDA=ON)
expect_refused("XSIGMA_ENABLE_CUDA=ON, but no headers of CUPTI" "XSIGMA_ENABLE_CUDA=AUTO builds without it")
configure(cuda -DXSIGMA_ENABLE_CUDA=OFF)
expect_configured()
expect_in_build(cuda ${without_cuda})
