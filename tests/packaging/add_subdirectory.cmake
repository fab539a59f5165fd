# Configures, builds and runs the project add_subdirectory/, which contains the library, of the kind SHARED; then installs that into PREFIX.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${PREFIX})
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/add_subdirectory -B ${BINARY} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DXSIGMA_PROFILER_ROOT=${ROOT} -DBUILD_SHARED_LIBS=${SHARED} -DXSIGMA_PROFILER_INSTALL=ON
  -DXSIGMA_ENABLE_KINETO=${ENABLE_KINETO})
step(${CMAKE_COMMAND} --build ${BINARY})
step(${BINARY}/consumer)
step(${CMAKE_COMMAND} --install ${BINARY} --prefix ${PREFIX})
