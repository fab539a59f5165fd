# Install and export: the library, its headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS xsigma_profiler
  EXPORT xsigma_profiler_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/xsigma_profiler)
install(EXPORT xsigma_profiler_targets
  FILE xsigma_profiler_targets.cmake
  NAMESPACE xsigma::
  DESTINATION ${package_dir})

set(XSIGMA_PROFILER_IS_STATIC ON)
if(BUILD_SHARED_LIBS)
  set(XSIGMA_PROFILER_IS_STATIC OFF)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/xsigma_profilerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/xsigma_profilerConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/xsigma_profilerConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/xsigma_profilerConfig.cmake
  ${PROJECT_BINARY_DIR}/package/xsigma_profilerConfigVersion.cmake
  DESTINATION ${package_dir})

# pkg-config. The prefix is found from the place of the file, so that an installed tree may be moved. A shared library brings what it
# needs along; a static one names it.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH pc_up /${pc_dir} /)
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(pc_definitions "")
foreach(definition IN LISTS XSIGMA_PROFILER_DEFINITIONS)
  string(APPEND pc_definitions " -D${definition}")
endforeach()
set(pc_requires "")
set(pc_libs "-L\${libdir} -lxsigma_profiler")
if(XSIGMA_PROFILER_IS_STATIC)
  set(pc_requires "fmt, zlib")
  string(APPEND pc_libs " -pthread")
  if(CMAKE_DL_LIBS)
    string(APPEND pc_libs " -l${CMAKE_DL_LIBS}")
  endif()
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/xsigma_profiler.pc.in ${PROJECT_BINARY_DIR}/package/xsigma_profiler.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/xsigma_profiler.pc DESTINATION ${pc_dir})
