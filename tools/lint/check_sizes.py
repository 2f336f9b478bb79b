#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of at most 100 lines, files of at most 600, headers of at most 200. Exceptions: exceptions.txt."""
import ast
import dataclasses
import pathlib
import re
import sys

import tree

FUNCTION_LINES = 100
FILE_LINES = 600
HEADER_LINES = 200

_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_PREFIX = re.compile(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>|\balignas\s*\([^()]*\)")
_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b|^\s*extern\s*$")
_NAME = re.compile(r"([~\w][\w:~]*|operator\s*\S+?)\s*\(")
_MEMBER_INITIALISER = re.compile(r"\)[^;{}]*?[:,]\s*[\w:]+(?:<[^;{}]*>)?\s*$")


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int


def _kind(head, parentheses):
    """What a brace opens at namespace or class level: "scope", "function" or "value"; head is the text before it."""
    if parentheses:
        return "value"
    head = _PREFIX.sub(" ", head)
    if "(" not in head:
        return "scope" if _SCOPE.search(head) or not head.strip() else "value"
    if _MEMBER_INITIALISER.search(head) and not re.search(r"(?:\)|\bconst|\bnoexcept|\boverride|\bfinal)\s*$", head):
        return "value" if re.search(r"\)[^()]*:(?!:)", head) else "function"
    return "value" if re.search(r"(?<![=!<>])=\s*$|,\s*$", head) else "function"


def cpp_functions(text):
    """Functions of C++ text by matching braces. Lambdas and local classes count towards the function around them."""
    code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), tree.code_only(text))
    found, stack, head_start, parentheses, line = [], [], 0, 0, 1
    for place, sign in enumerate(code):
        if sign == "\n":
            line += 1
        elif sign == "{":
            inside = bool(stack) and stack[-1][0] != "scope"
            head = code[head_start:place]
            kind = "inner" if inside else _kind(head, parentheses)
            name = _NAME.search(_PREFIX.sub(" ", head)) if kind == "function" else None
            stack.append((kind, line, name.group(1) if name else "?"))
            if kind == "scope":
                head_start = place + 1
        elif sign == "}" and stack:
            kind, first, name = stack.pop()
            if kind == "function":
                found.append(Function(name, first, line - first + 1))
            if kind in ("function", "scope"):
                head_start = place + 1
        elif not stack or stack[-1][0] == "scope":
            if sign == ";" and not parentheses:
                head_start = place + 1
            parentheses += (sign == "(") - (sign == ")")
    return found


def python_functions(text):
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return [Function(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in nodes]


def functions(path, text):
    if tree.is_cpp(path):
        return cpp_functions(text)
    return python_functions(text) if path.endswith(".py") else []


def check_file(path, text, exceptions):
    findings = []
    lines = text.count("\n")
    usual = HEADER_LINES if tree.is_header(path) and not path.startswith("include/") else FILE_LINES
    limit = exceptions.get(("file-size", path), usual)
    if lines > limit:
        findings.append(tree.Finding(path, lines, "file-size", f"{lines} lines, at most {limit}: split by what it does"))
    for function in functions(path, text):
        limit = exceptions.get(("function-size", f"{path}:{function.name}"), FUNCTION_LINES)
        if function.lines > limit:
            findings.append(tree.Finding(path, function.line, "function-size",
                                         f"{function.name} has {function.lines} lines, at most {limit}"))
    return findings


def main(root):
    exceptions = tree.exceptions(root)
    sources = [path for path in tree.files(root) if tree.is_source(path)]
    return tree.report([finding for path in sources for finding in check_file(path, tree.read(root, path), exceptions)])


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[2]))
