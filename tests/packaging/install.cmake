# Installs the build BUILD into a fresh PREFIX, which is not the prefix it was configured for.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${PREFIX})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config ${CONFIG})
