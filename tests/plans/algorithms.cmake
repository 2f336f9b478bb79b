# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
# Tests of the algorithms and of the byte interpreter.
hawser_test(plans_interpret_test SOURCES interpret_test.cpp LINKS plan algorithms topology LABELS plans)
hawser_test(plans_interpret_geometry_test SOURCES interpret_geometry_test.cpp LINKS plan LABELS plans)
hawser_test(plans_algorithms_interpret_test SOURCES algorithms_interpret_test.cpp LINKS plan algorithms topology
  TIMEOUT 300 LABELS plans)
hawser_test(plans_algorithms_select_test SOURCES algorithms_select_test.cpp LINKS plan algorithms topology LABELS plans)
hawser_test(plans_algorithms_shape_test SOURCES algorithms_shape_test.cpp LINKS plan algorithms topology LABELS plans)
