# Configures, builds and runs the project find_package/ against the package installed in PREFIX.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${BINARY})
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/find_package -B ${BINARY} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX} -DEXPECTED_VERSION=${VERSION} -DEXPECTED_PREFIX=${PREFIX})
step(${CMAKE_COMMAND} --build ${BINARY})
step(${BINARY}/consumer)
