# Compiles the consumer with nothing but the compiler and what pkg-config says of the package installed in PREFIX, and runs it.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${BINARY})
file(MAKE_DIRECTORY ${BINARY})

file(GLOB_RECURSE pc ${PREFIX}/*/xsigma_profiler.pc)
list(LENGTH pc count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "one xsigma_profiler.pc expected under ${PREFIX}, found: ${pc}")
endif()
cmake_path(GET pc PARENT_PATH pc_dir)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})

step(${PKG_CONFIG} --modversion xsigma_profiler)
string(STRIP "${step_output}" version)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "xsigma_profiler.pc has version ${version}, not ${VERSION}")
endif()

step(${PKG_CONFIG} --cflags xsigma_profiler)
separate_arguments(cflags UNIX_COMMAND "${step_output}")
step(${PKG_CONFIG} --libs xsigma_profiler)
separate_arguments(libs UNIX_COMMAND "${step_output}")
set(consumer ${CMAKE_CURRENT_LIST_DIR}/consumer)
step(${COMPILER} -std=c++17 ${cflags} ${consumer}/main.cpp ${consumer}/seed_spelling.cpp ${libs} -o ${BINARY}/consumer)

cmake_path(GET pc_dir PARENT_PATH libdir)
set(ENV{LD_LIBRARY_PATH} ${libdir})
step(${BINARY}/consumer)
