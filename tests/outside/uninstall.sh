#!/bin/sh
# `--target uninstall` leaves a prefix as it was before `cmake --install`: what strangers have there stays, folders that are empty too; the
# same under DESTDIR. What the build knows of an installation of the user's is put back. usage: uninstall.sh BUILD
set -eu
build=$1
work=$(mktemp -d)
mkdir "$work/kept"
for name in install_manifest.txt install_folders.txt; do
    [ ! -f "$build/$name" ] || mv "$build/$name" "$work/kept"
done
finish() {
    rm -f "$build/install_manifest.txt" "$build/install_folders.txt"
    find "$work/kept" -type f -exec mv {} "$build" \;
    rm -rf "$work"
}
trap finish EXIT

# removed: cmake's log of the target
remove() { cmake --build "$build" --target uninstall >"$work/log" 2>&1; }

# same FOLDER: as before
same() {
    (cd "$1" && find . | sort) >"$work/after"
    diff "$work/before" "$work/after" || { echo "uninstall does not leave $1 as it was"; exit 1; }
}

echo "== a prefix with files of others, and a name with blanks and brackets"
prefix="$work/clotho [of] mine"
mkdir -p "$prefix/bin" "$prefix/include/clotho" "$prefix/share/empty" "$prefix/share/man/man1"
echo other >"$prefix/bin/other"
echo other >"$prefix/include/clotho/other.h"
(cd "$prefix" && find . | sort) >"$work/before"
cmake --install "$build" --prefix "$prefix" >/dev/null
test -x "$prefix/bin/clotho"
cmake --install "$build" --prefix "$prefix" >/dev/null # twice: what was made by the first is known
rm "$prefix/bin/clotho-ninja"                           # by hand: no reason to stop
remove || { cat "$work/log"; exit 1; }
grep -q "Not there: .*clotho-ninja" "$work/log"
same "$prefix"
if remove; then
    echo "a second uninstall finds something"
    exit 1
fi
grep -q "Nothing is installed" "$work/log"

echo "== DESTDIR"
DESTDIR=$work/stage
export DESTDIR
echo . >"$work/before"
timeout 300 cmake --install "$build" --prefix /usr >/dev/null # which makes DESTDIR
test -x "$DESTDIR/usr/bin/clotho"
remove || { cat "$work/log"; exit 1; }
same "$DESTDIR"
