# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# Options and the flags that every target of Hawser shares, as the interface target hawser_options.
option(HAWSER_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HAWSER_BUILD_TOOLS "Build the perf programs and the tools" ON)
option(HAWSER_WERROR "Treat warnings as errors" OFF)
set(HAWSER_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
set(HAWSER_SIMD "all" CACHE STRING "SIMD targets of the kernels: all, or one (sanitizer builds)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)

add_library(hawser_options INTERFACE)
target_compile_options(hawser_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion)
if(HAWSER_WERROR)
  target_compile_options(hawser_options INTERFACE -Werror)
endif()
if(HAWSER_SANITIZE)
  target_compile_options(hawser_options INTERFACE -fsanitize=${HAWSER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(hawser_options INTERFACE -fsanitize=${HAWSER_SANITIZE})
  # GCC sees uninitialised variables where its own instrumentation splits a path.
  target_compile_options(hawser_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
# fmt and spdlog are compiled in as headers, so that the library needs neither at run time.
target_compile_definitions(hawser_options INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
target_link_libraries(hawser_options INTERFACE Threads::Threads)
