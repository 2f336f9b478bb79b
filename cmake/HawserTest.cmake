# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# hawser_test(NAME SOURCES ... LINKS ... [TIMEOUT seconds] [LABELS ...]): one GoogleTest program, one ctest entry.
# LINKS names rooms ("plan") without what they link: the program is linked with the objects of all rooms that they need.
find_package(GTest REQUIRED)
set(HAWSER_TEST_LABELS "" CACHE STRING "Regular expression: build by default only tests with such a label; empty: all")

function(hawser_test name)
  cmake_parse_arguments(test "" "TIMEOUT" "SOURCES;LINKS;LABELS;PRIVATE_LINKS" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  add_executable(${name} ${test_SOURCES})
  if(HAWSER_TEST_LABELS AND NOT "${test_LABELS}" MATCHES "${HAWSER_TEST_LABELS}")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  hawser_link_rooms(${name} ${test_LINKS})
  target_link_libraries(${name} PRIVATE hawser_options GTest::gmock GTest::gtest_main ${test_PRIVATE_LINKS})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS "${test_LABELS}")
endfunction()
