# Whether programs in CUDA are built: XSIGMA_PROFILER_CUDA_LANGUAGE is ON, or OFF and XSIGMA_PROFILER_NO_CUDA_LANGUAGE says why.
#
# The library needs no CUDA compiler; tests/device and benchmarks/device do.
set(XSIGMA_PROFILER_CUDA_LANGUAGE OFF)
set(XSIGMA_PROFILER_NO_CUDA_LANGUAGE "")
if(NOT XSIGMA_PROFILER_DEVICE_TESTS)
  set(XSIGMA_PROFILER_NO_CUDA_LANGUAGE "XSIGMA_PROFILER_DEVICE_TESTS is off")
elseif(NOT XSIGMA_PROFILER_HAS_KINETO)
  set(XSIGMA_PROFILER_NO_CUDA_LANGUAGE "built without recording")
elseif(XSIGMA_PROFILER_SANITIZE)
  set(XSIGMA_PROFILER_NO_CUDA_LANGUAGE "the build is sanitized")
else()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES native)  # of the device that is here
    endif()
    enable_language(CUDA)
    set(XSIGMA_PROFILER_CUDA_LANGUAGE ON)
  else()
    set(XSIGMA_PROFILER_NO_CUDA_LANGUAGE "no CUDA compiler was found when this was configured")
  endif()
endif()
if(XSIGMA_PROFILER_NO_CUDA_LANGUAGE)
  if(XSIGMA_PROFILER_DEVICE_TESTS STREQUAL "ON" AND NOT XSIGMA_PROFILER_SANITIZE)
    message(FATAL_ERROR "xsigma_profiler: XSIGMA_PROFILER_DEVICE_TESTS=ON, but ${XSIGMA_PROFILER_NO_CUDA_LANGUAGE}. CUDACXX=/path/to/nvcc names one.")
  endif()
  message(STATUS "xsigma_profiler: programs that need a CUDA compiler are left out: ${XSIGMA_PROFILER_NO_CUDA_LANGUAGE}")
endif()

# xsigma_add_cuda_program(<name> <source>...): with the library, and what the programs that need a device share (tests/device).
function(xsigma_add_cuda_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE xsigma::profiler Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/device)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow>
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-restrict>)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
