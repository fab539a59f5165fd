# xsigma_profiler_warnings(<target>): the warnings that our own code is held to. Errors only with XSIGMA_PROFILER_WERROR.
function(xsigma_profiler_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2
    -Wextra-semi -Wimplicit-fallthrough)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wduplicated-cond -Wlogical-op)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict)  # sees overlaps in joined strings where there are none
    endif()
  endif()
  if(XSIGMA_PROFILER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
