// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Does nothing; the test looks at how it is linked.
int main(void) { return 0; }
