#!/usr/bin/env python3
"""Writes a small C project for CMake into a folder: modules that share a generated header, two libraries, three programs. Its compiles
take from a tenth of a second to about one, so that the order in which they run shows in a picture.

usage: make_project.py FOLDER [MODULES]"""
import os
import sys

CMAKE = """cmake_minimum_required(VERSION 3.13)
project(sample C)
set(CMAKE_C_FLAGS "-O2")
add_custom_command(OUTPUT numbers.h COMMAND ${CMAKE_COMMAND} -DOUT=numbers.h -P ${CMAKE_SOURCE_DIR}/numbers.cmake
                   DEPENDS numbers.cmake)
add_custom_target(numbers DEPENDS ${CMAKE_BINARY_DIR}/numbers.h)
include_directories(${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
"""


def module(index, functions):
    """One source: functions that an optimizer has work with."""
    lines = ["#include \"shared.h\"", "#include <numbers.h>"]
    for f in range(functions):
        lines.append("int m%d_%d(const int *a, int n)\n{\n    int s = NUMBER_%d;\n    for (int i = 0; i < n; i++)\n"
                     "        for (int k = 0; k < 8; k++)\n            s += a[i] * (k + %d) ^ (s >> (k & 3));\n    return s;\n}"
                     % (index, f, f % 10, f))
    return "\n".join(lines) + "\n"


def main(folder, modules):
    os.makedirs(folder, exist_ok=True)
    files = {"numbers.cmake": "file(WRITE ${OUT} \"\")\nforeach(i RANGE 9)\n  file(APPEND ${OUT} \"#define NUMBER_${i} ${i}\\n\")\nendforeach()\n",
             "shared.h": "#include <stddef.h>\n#define SHARED 1\n"}
    lists, half = CMAKE, modules // 2
    for i in range(modules):
        files["m%d.c" % i] = module(i, 5 + 15 * (i * 7 % 5))
    for name, some in (("front", range(half)), ("back", range(half, modules))):
        lists += "add_library(%s STATIC %s)\nadd_dependencies(%s numbers)\n" % (name, " ".join("m%d.c" % i for i in some), name)
    for i in range(3):
        calls = "".join("    s += m%d_0(a, 4);\n" % k for k in range(i, modules, 3))
        files["p%d.c" % i] = ("".join("int m%d_0(const int *a, int n);\n" % k for k in range(i, modules, 3)) +
                              "int main(void)\n{\n    int a[4] = {1, 2, 3, 4}, s = 0;\n%s    return s == 0;\n}\n" % calls)
        lists += "add_executable(p%d p%d.c)\ntarget_link_libraries(p%d front back)\n" % (i, i, i)
    files["CMakeLists.txt"] = lists
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 20)
