# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# hawser_room(NAME SOURCES ... LINKS ...): one folder of src/ as one target. Its headers are included as "NAME/x.h" and are visible only to
# targets that link the room: the include path is a directory holding nothing but a link to the folder, so a wrong include does not compile.
function(hawser_expose_room target name folder)
  set(root "${CMAKE_BINARY_DIR}/rooms/${name}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${folder}" "${root}/${name}" SYMBOLIC)
  target_include_directories(${target} PUBLIC "${root}")
endfunction()

function(hawser_room name)
  cmake_parse_arguments(room "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(hawser_${name} OBJECT ${room_SOURCES})
  hawser_expose_room(hawser_${name} ${name} "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(hawser_${name} PUBLIC hawser_options)
  foreach(link IN LISTS room_LINKS)
    target_link_libraries(hawser_${name} PUBLIC hawser_${link})
  endforeach()
  target_link_libraries(hawser_${name} PRIVATE ${room_PRIVATE_LINKS})
  set_property(GLOBAL APPEND PROPERTY HAWSER_ROOMS hawser_${name})
endfunction()
