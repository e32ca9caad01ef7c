#!/bin/sh
# The C++ headers and examples by the compilers of Debian 13, gcc 14 and clang 19, as C++17, 20 and 23, warnings as errors. No part of
# ctest: it needs root, mmdebstrap and a mirror of Debian, and two minutes. usage: trixie.sh [FOLDER], in which the root is kept
set -eu
cd "$(dirname "$0")/../.."
root=${1:-$(mktemp -d)}
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(LABEL)' 'Created-By: Packages' | sed -n 's/ Debian Debian$//p' | head -n 1)
[ -x "$root/usr/bin/g++-14" ] || mmdebstrap --variant=apt --include=g++-14,clang-19 trixie "$root" "$mirror"
rm -rf "$root/src"
mkdir "$root/src"
cp -r include examples "$root/src"
chroot "$root" sh -euc '
    cd /src
    warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
    for compiler in g++-14 clang++-19; do
        for standard in 17 20 23; do
            for file in include/clotho/*.hpp examples/*.cpp; do
                $compiler -std=c++$standard -Iinclude -O2 $warnings -x c++ -c "$file" -o /dev/null
            done
            echo "$($compiler --version | head -n 1), C++$standard: clean"
        done
    done'
