#!/bin/sh
# Installs the build into an empty prefix, moves the prefix (packages are relocatable), and builds a stranger's project
# against it: with find_package, and with pkg-config, shared and static.
# usage: run.sh BUILD SOURCE C_COMPILER
set -eu
build=$1 source=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/moved"
libdir=$(dirname "$(find "$work/moved" -name libclotho.so)")

echo "== find_package"
cmake -G Ninja -S "$source" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON >"$work/cmake.log" 2>&1 ||
    { cat "$work/cmake.log"; exit 1; }
cmake --build "$work/cmake" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/cmake/outside_shared"
"$work/cmake/outside_static"
"$work/cmake/outside_cxx"
"$work/cmake/outside_hpp"
"$work/cmake/outside_io"
if [ -e "$libdir/libclotho-rpc.so" ]; then
    "$work/cmake/outside_rpc"
    "$work/cmake/outside_rpc_static"
    readelf -d "$work/cmake/outside_rpc_static" | grep -q 'libclotho' && { echo "outside_rpc_static needs libclotho"; exit 1; }
fi
readelf -d "$work/cmake/outside_static" | grep -q 'libclotho' && { echo "outside_static needs libclotho.so"; exit 1; }

echo "== pkg-config"
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/outside.c" -o "$work/by_pkg" $(pkg-config --cflags --libs clotho) -Wl,-rpath,"$libdir"
"$work/by_pkg"
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/../../examples/00_first.c" -o "$work/hello" $(pkg-config --cflags --libs clotho) -Wl,-rpath,"$libdir"
"$work/hello" # the README's first program needs libclotho alone
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/../../examples/15_device.c" -o "$work/device" $(pkg-config --cflags --libs clotho-device) -pthread -Wl,-rpath,"$libdir"
"$work/device" "$source/../../examples/15_npu.xml" >/dev/null # a driver of one's own needs libclotho and libclotho-device
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/outside_io.c" -o "$work/io_by_pkg" $(pkg-config --cflags --libs clotho-io) -Wl,-rpath,"$libdir"
"$work/io_by_pkg"
if [ -e "$libdir/libclotho-rpc.so" ]; then
    # shellcheck disable=SC2046
    "$cc" -std=c11 "$source/outside_rpc.c" -o "$work/rpc_by_pkg" $(pkg-config --cflags --libs clotho-rpc) -Wl,-rpath,"$libdir"
    "$work/rpc_by_pkg" # it needs libclotho and libclotho-rpc, and nothing that reads files
    readelf -d "$work/rpc_by_pkg" | grep -q 'libclotho-[di]' && { echo "clotho-rpc names libraries that it does not need"; exit 1; }
fi
case $(pkg-config --cflags clotho) in
*' -I'*' -I'* | *cjson*) echo "pkg-config --cflags clotho names folders of others: $(pkg-config --cflags clotho)"; exit 1 ;;
esac
mkdir "$work/archive" # without the shared library the linker takes ours; those of the system stay shared
cp -r "$work/moved/include" "$work/archive"
(cd "$work/moved" && find . -name 'libclotho*.a' -o -name 'clotho*.pc') | while read -r file; do
    mkdir -p "$work/archive/$(dirname "$file")"
    cp "$work/moved/$file" "$work/archive/$file"
done
PKG_CONFIG_PATH=$(dirname "$(find "$work/archive" -name clotho.pc)")
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/outside.c" -o "$work/by_pkg_static" $(pkg-config --static --cflags --libs clotho)
"$work/by_pkg_static"
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/outside_io.c" -o "$work/io_static" $(pkg-config --static --cflags --libs clotho-io)
"$work/io_static"
if [ -e "$libdir/libclotho-rpc.so" ]; then
    # shellcheck disable=SC2046
    "$cc" -std=c11 "$source/outside_rpc.c" -o "$work/rpc_static" $(pkg-config --static --cflags --libs clotho-rpc)
    "$work/rpc_static"
    readelf -d "$work/rpc_static" | grep -q 'libclotho' && { echo "rpc_static needs libclotho.so"; exit 1; }
fi
for program in by_pkg_static io_static; do
    readelf -d "$work/$program" | grep -q 'libclotho' && { echo "$program needs libclotho.so"; exit 1; }
done

echo "== the command and what it ships"
"$work/moved/bin/clotho" --version
test -x "$work/moved/bin/clotho-step" # stands around the steps of builds
"$work/moved/bin/clotho-ninja" --version | grep -q "^1\.[0-9]*\.[0-9]*$" # a link: CMake and Meson take it for a ninja
"$work/moved/bin/clotho" platform show rk3588 >/dev/null
test -s "$work/moved/share/clotho/platforms/rk3588.xml"
"$work/moved/bin/clotho" platform show orin-nano | grep -q "6 executors" # a file beside it
"$work/moved/bin/clotho" platform show "$work/moved/share/clotho/platforms/rk3588.xml" >/dev/null
if [ -d "$work/moved/share/clotho/python" ]; then
    PYTHONPATH=$work/moved/share/clotho/python /usr/bin/python3 -B -c "import clotho; print(clotho.Platform('orin-nano'))" | grep -q "6 executors"
fi
for library in "$libdir"/libclotho*.so; do
    exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | grep -v '^clo_' || true)
    test -z "$exported" || { echo "$library exports more than clo_: $exported"; exit 1; }
done
