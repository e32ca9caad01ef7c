#!/bin/sh
# A core for boards: configured with -DCLOTHO_HWLOC=OFF -DCLOTHO_IO=OFF where pkg-config knows liburcu only. A program with a
# platform from arrays runs, and libclotho needs no more than the C library and liburcu. Compiled at -O0, in half of the time.
# usage: no_hwloc.sh SOURCE PROGRAM.c C_COMPILER
set -eu
source=$1 program=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/pc"
real=$(command -v pkg-config)
cat >"$work/pkg-config" <<EOF
#!/bin/sh
case "\$*" in *hwloc* | *expat* | *cjson*) exit 1 ;; esac
exec $real "\$@"
EOF
chmod +x "$work/pkg-config"
cmake -G Ninja -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DPKG_CONFIG_EXECUTABLE="$work/pkg-config" \
    -DCLOTHO_HWLOC=OFF -DCLOTHO_IO=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
cmake --build "$work/build" -j 2 --target clotho_shared >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
libdir=$work/build/lib
"$cc" -std=c11 "$program" -o "$work/arrays" -I"$source/include" -L"$libdir" -lclotho -Wl,-rpath,"$libdir"
"$work/arrays"
others=$(readelf -d "$libdir/libclotho.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -v '^libc\.so\|^liburcu\|^libm\.so\|^ld-linux\|^libgcc_s\.so' || true)
test -z "$others" || { echo "libclotho needs $others"; exit 1; }
for wrong in -DCLOTHO_IO=ON -DCLOTHO_EXAMPLES=ON; do
    cmake -G Ninja -S "$source" -B "$work/wrong" -DCLOTHO_HWLOC=OFF -DCLOTHO_IO=OFF "$wrong" >"$work/log" 2>&1 &&
        { echo "CLOTHO_HWLOC=OFF with $wrong is not refused"; exit 1; }
    grep -q "CLOTHO_HWLOC=OFF goes with CLOTHO_IO=OFF" "$work/log" || { cat "$work/log"; exit 1; }
    rm -rf "$work/wrong"
done
echo "a core without hwloc runs"
