#!/usr/bin/env bash
# The Debian packages of this tree, by steps: `build` makes them, `judge` is lintian, `root` installs them into a clean root, runs their tests
# there and removes them; `rebuild` makes them again in a clean root with no more than Build-Depends name.
# usage: packaging/package.sh OUT [STEP...]; all steps but the last if none is named. `./dev package` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.sh
out=$(mkdir -p "$1" && cd "$1" && pwd)
version=$(sed -n 's/^project(clotho VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
tree=$out/clotho-$version

say() { printf '\n== %s\n' "$*"; }

# quietly LOG COMMAND...: what it says is shown only if it fails.
quietly() {
    local log=$out/$1
    shift
    "$@" >>"$log" 2>&1 || {
        tail -n 40 "$log" | cut -c1-300 >&2
        echo "package: failed; all of it is in $log" >&2
        exit 1
    }
}

# What git knows and what it would take, so the packages are those of the tree as it is.
copy_tree() {
    rm -rf "$tree" "$out"/{clotho,libclotho,python3-clotho}*.deb "$out"/clotho_* "$out"/{build,root}.log "$out"/test-*.log # nothing of others
    mkdir -p "$tree"
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
        [ ! -e "$name" ] && [ ! -L "$name" ] || printf '%s\0' "$name"
    done | tar --null -T - -cf - | tar -xf - -C "$tree"
    tar --sort=name --owner=0 --group=0 --mtime=@0 -C "$out" -cJf "$out/clotho_$version.orig.tar.xz" "clotho-$version"
    cp -r packaging/debian "$tree/debian"
}

step_build() {
    say "packages ($out)"
    copy_tree
    cd "$tree"
    # Not this user's Python and tools: those of the system.
    PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-terse} quietly build.log dpkg-buildpackage -us -uc
    cd - >/dev/null
    ls "$out"/*.deb
}

step_judge() {
    local as_root=()
    say "lintian"
    [ "$(id -u)" -ne 0 ] || as_root=(--allow-root)
    # No bug of Debian's asks for these packages.
    lintian "${as_root[@]}" --tag-display-limit 0 --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning \
        "$out"/clotho_*.changes
    echo "lintian: clean"
}

inside() { inside_root "$out/root" "$@"; }

install_names() {
    quietly root.log inside apt-get install -y -qq --no-install-recommends "$@"
}

# Each test gets what its own Depends name, and no more than was there before: debian/tests/control begins with the shortest list.
run_tests() {
    local name depends
    for name in $(sed -n 's/^Tests: //p' "$tree/debian/tests/control"); do
        depends=$(sed -n "/^Tests: $name\$/,/^\$/s/^Depends: //p" "$tree/debian/tests/control" | tr -d ,)
        # shellcheck disable=SC2086 # names
        install_names $depends
        quietly "test-$name.log" inside "/source/debian/tests/$name"
        echo "test $name: good"
    done
}

# A root with these packages beside the essential ones, the folder /packages and the source.
fill_root() {
    say "a clean root ($out/root, $(release_name))"
    rm -f "$out"/root.log "$out"/test-*.log
    quietly root.log make_root "$out/root" "$1"
    mkdir "$out/root/packages"
    cp "$out"/*.deb "$out"/clotho_*.dsc "$out"/clotho_*.tar.* "$out/root/packages"
    cp -r "$tree" "$out/root/source"
}

step_root() {
    local left
    fill_root apt-utils
    (cd "$out/root/packages" && dpkg-scanpackages . >Packages 2>/dev/null)
    echo "deb [trusted=yes] file:/packages ./" >"$out/root/etc/apt/sources.list.d/clotho.list"
    quietly root.log inside apt-get update -qq
    run_tests
    install_names clotho-doc
    say "removal"
    # shellcheck disable=SC2016 # for dpkg-query
    quietly root.log inside sh -c 'dpkg-query -W -f "\${Package}\n" "*clotho*" | xargs apt-get purge -y -qq'
    left=$(inside find / -xdev '(' -path /proc -o -path /packages -o -path /source -o -path /tmp -o -path /var/lib/apt ')' -prune -o \
        -name '*clotho*' -not -name clotho.list -print)
    [ -z "$left" ] || { printf 'package: left behind: %s\n' "$left" >&2 && exit 1; }
    rm -rf "$out/root"
    echo "package: installed, tested and removed"
}

step_rebuild() {
    local name
    fill_root dpkg-dev
    quietly root.log inside apt-get update -qq
    quietly root.log inside apt-get build-dep -y -qq --no-install-recommends /source
    quietly root.log inside env DEB_BUILD_OPTIONS=terse sh -c 'cd /packages && dpkg-source -x clotho_*.dsc fresh && cd fresh && dpkg-buildpackage -b -us -uc'
    for name in "$out"/*.deb; do
        case $name in *-dbgsym_*) continue ;; esac # their files have the names of builds
        quietly root.log diff <(dpkg -c "$name" | awk '{print $1, $6}') <(dpkg -c "$out/root/packages/${name##*/}" | awk '{print $1, $6}')
    done
    rm -rf "$out/root"
    echo "package: built in a clean root, with the same files"
}

shift
[ $# -gt 0 ] || set -- build judge root
for step in "$@"; do
    declare -F "step_$step" >/dev/null || { echo "package: '$step' is no step; the steps are build, judge, root and rebuild" >&2 && exit 2; }
    "step_$step"
done
