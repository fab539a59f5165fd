# What the packaging tests share.

# Runs a command; its failure is the failure of the test. The output is left in step_output.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()

# The environment of the caller must not decide what is found.
foreach(name IN ITEMS CMAKE_PREFIX_PATH xsigma_profiler_DIR xsigma_profiler_ROOT PKG_CONFIG_PATH XSIGMA_PROFILER_POLICY XSIGMA_PROFILER_CAP
                      XSIGMA_PROFILER_FILE DESTDIR CXXFLAGS)
  unset(ENV{${name}})
endforeach()
