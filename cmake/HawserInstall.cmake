# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: component runtime (libraries, licences) and component development (headers, links for
# the linker, find_package(hawser), pkg-config hawser and nccl). All of it can be moved as a whole.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS hawser nccl EXPORT hawser_targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES include/nccl.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(DIRECTORY include/hawser DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
install(DIRECTORY licenses DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

set(hawser_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hawser")
install(EXPORT hawser_targets NAMESPACE hawser:: DESTINATION "${hawser_cmake_dir}" COMPONENT development)
configure_package_config_file(cmake/hawser-config.cmake.in "${PROJECT_BINARY_DIR}/cmake/hawser-config.cmake"
                              INSTALL_DESTINATION "${hawser_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/hawser-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/hawser-config.cmake" "${PROJECT_BINARY_DIR}/cmake/hawser-config-version.cmake"
        DESTINATION "${hawser_cmake_dir}" COMPONENT development)

# The .pc files name the prefix by their own place.
set(hawser_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH HAWSER_PC_PREFIX "/prefix/${hawser_pkgconfig_dir}" "/prefix")
string(REGEX REPLACE "/$" "" HAWSER_PC_PREFIX "${HAWSER_PC_PREFIX}")
file(READ include/nccl.h hawser_nccl_header)
string(REGEX MATCH "NCCL_MAJOR ([0-9]+)\n#define NCCL_MINOR ([0-9]+)\n#define NCCL_PATCH ([0-9]+)" _ "${hawser_nccl_header}")
set(HAWSER_NCCL_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
foreach(package hawser nccl)
  configure_file(cmake/${package}.pc.in "${PROJECT_BINARY_DIR}/cmake/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${package}.pc" DESTINATION "${hawser_pkgconfig_dir}" COMPONENT development)
endforeach()
