#!/bin/sh
# refused.sh COMPILER SOURCE - what is wrong with a use of clotho.hpp is said by the compiler, in the words of the comment
# of each case of refused.cpp.
set -eu
compiler=$1 source=$2
compile() { "$compiler" -std=c++17 -I"$source/include" -DCASE="$1" -fsyntax-only "$source/tests/cpp/refused.cpp" 2>&1; }

compile 0
cases=$(grep -c '^#elif CASE == ' "$source/tests/cpp/refused.cpp")
[ "$cases" -ge 7 ]
for number in $(seq "$cases"); do
    words=$(sed -n "s|^#elif CASE == $number /\* \(.*\) \*/|\1|p" "$source/tests/cpp/refused.cpp")
    if said=$(compile "$number"); then
        echo "case $number ($words) compiles"
        exit 1
    fi
    echo "$said" | grep -q "error: .*$words" || { echo "case $number does not say '$words': $said"; exit 1; }
done
echo "$cases cases are refused"
