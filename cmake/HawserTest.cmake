# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# hawser_test(NAME SOURCES ... LINKS ... [TIMEOUT seconds] [LABELS ...]): one GoogleTest program, one ctest entry.
# LINKS names rooms ("plan") without what they link: the program is linked with the objects of all rooms that they need.
find_package(GTest REQUIRED)

# Objects of a room do not travel through PUBLIC links, so a program names the rooms whose code it needs; this adds what they need in turn.
function(hawser_collect_rooms out)
  set(todo ${ARGN})
  set(done "")
  while(todo)
    list(POP_FRONT todo room)
    if(NOT room IN_LIST done AND TARGET ${room})
      list(APPEND done ${room})
      get_target_property(links ${room} INTERFACE_LINK_LIBRARIES)
      foreach(link IN LISTS links)
        if(link MATCHES "^hawser_" AND NOT link STREQUAL "hawser_options")
          list(APPEND todo ${link})
        endif()
      endforeach()
    endif()
  endwhile()
  set(${out} ${done} PARENT_SCOPE)
endfunction()

# Links a program or library with the named rooms and all that they need.
function(hawser_link_rooms target)
  list(TRANSFORM ARGN PREPEND hawser_)
  hawser_collect_rooms(rooms ${ARGN})
  foreach(room IN LISTS rooms)
    target_link_libraries(${target} PRIVATE ${room})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${room}>)
  endforeach()
endfunction()

function(hawser_test name)
  cmake_parse_arguments(test "" "TIMEOUT" "SOURCES;LINKS;LABELS;PRIVATE_LINKS" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  add_executable(${name} ${test_SOURCES})
  hawser_link_rooms(${name} ${test_LINKS})
  target_link_libraries(${name} PRIVATE hawser_options GTest::gmock GTest::gtest_main ${test_PRIVATE_LINKS})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS "${test_LABELS}")
endfunction()
