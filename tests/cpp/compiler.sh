#!/bin/sh
# compiler.sh COMPILER BUILD SOURCE - a C++ compiler takes clotho.hpp, its tests and its examples, as C++17, 20 and 23
# without a warning, and the tests that it has made (as C++17) hold with the libraries of BUILD. As C++17 these are compiled once,
# to be run, and not beforehand for their syntax.
set -eu
compiler=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -- -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -pthread -I"$source/include"

for standard in c++17 c++20 c++2b; do
    for name in examples/16_hello examples/17_camera; do
        "$compiler" -std=$standard "$@" -fsyntax-only "$source/$name.cpp"
    done
    [ $standard != c++17 ] || continue
    for name in test_bodies test_throws; do
        "$compiler" -std=$standard "$@" -fsyntax-only "$source/tests/cpp/$name.cpp"
    done
    "$compiler" -std=$standard "$@" -fno-exceptions -fsyntax-only "$source/tests/cpp/test_without.cpp"
done
lib=$build/lib
for name in test_bodies test_throws test_without; do
    exceptions=-fexceptions
    [ "$name" != test_without ] || exceptions=-fno-exceptions
    "$compiler" -std=c++17 -O0 "$@" $exceptions "$source/tests/cpp/$name.cpp" -o "$work/$name" \
        "$lib/libclotho-decide.so" "$lib/libclotho.so" -Wl,-rpath,"$lib"
    "$work/$name"
done
