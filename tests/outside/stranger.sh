#!/usr/bin/env bash
# A stranger in a clean Debian root: clones this commit and follows the README, the guides and packaging/README.md, each line as it is
# printed there. Needs root, mmdebstrap and a mirror of Debian; about 15 minutes on two calm cores. `./dev test --full` runs it.
# usage: stranger.sh [--keep FOLDER] [STEP...]; without steps all of them, in a new root. --keep: the roots stay in FOLDER, where
# later calls can repeat single steps. --lines: only prints the steps, and looks whether the documents still have their lines; so does
# --test, unless CLO_FULL is set (the test outside.stranger).
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/root.sh
STEPS=(root clone plain run build program guides package install)
folder='' is_kept='' is_dry='' steps=() times='' step='' line='nothing yet'

die() {
    printf 'stranger: %s\n' "$*" >&2
    exit 1
}

# printed DOCUMENT TEXT: the line of a block in the document that begins so, without its comment.
printed() {
    local found
    found=$(awk -v text="$2" '/^```/ { inside = !inside } inside && index($0, text) == 1' "$1" | sed 's/  *# .*//' | head -n 1)
    [ -n "$found" ] || die "$1 prints no line '$2...' any more; a stranger would not find it, nor does step '$step'"
    printf '%s\n' "$found"
}

# in_root LINE...: a shell of the stranger's, in the clone if there is one. What it says is shown only if it fails.
in_root() {
    line="$*"
    [ -z "$is_dry" ] || { printf '    %s\n' "$line" && return; }
    # shellcheck disable=SC2016 # for the other shell
    inside_root "$folder/root" HOME=/root sh -ec '[ ! -d /root/clotho ] || cd /root/clotho; eval "$1"' sh "$line" >>"$folder/$step.log" 2>&1
}

# The same where the packages were installed.
at_user() {
    line="$*"
    [ -z "$is_dry" ] || { printf '    %s\n' "$line" && return; }
    inside_root "$folder/user" HOME=/root sh -ec "cd /root; $line" >>"$folder/$step.log" 2>&1
}

packages_of() { sed -n "s/^\($1\): *//p" toolchain/debian-packages.txt | tr '\n' ' '; }

# pages_are_there SHARE ZSH: commands that fail where a page of the manual or a completion of the installation below SHARE does.
pages_are_there() {
    printf '%s; ' "man clotho-plan | grep -q 'clotho plan'" \
        "bash -c '. $1/bash-completion/completions/clotho; complete -p clotho; COMP_LINE=\"clotho pl\" COMP_POINT=9 COMP_WORDS=(clotho pl) COMP_CWORD=1; _clotho; echo \${COMPREPLY[@]} | grep -w plan'" \
        "zsh -n $1/zsh/$2/_clotho" "fish -n $1/fish/vendor_completions.d/clotho.fish"
}

step_root() {
    line='mmdebstrap'
    [ -n "$is_dry" ] || make_root "$folder/root" git,ca-certificates >"$folder/root.log" 2>&1
    [ -n "$is_dry" ] || echo 'APT::Get::Assume-Yes "true";' >"$folder/root/etc/apt/apt.conf.d/90yes" # nobody is there to ask
    [ -n "$is_dry" ] || rm -rf "$folder/user" # of an earlier call; cp would copy into it
    [ -n "$is_dry" ] || cp -a "$folder/root" "$folder/user"
}

step_clone() {
    line='git clone'
    [ -n "$is_dry" ] || git clone --quiet --bare . "$folder/root/srv/clotho.git" >"$folder/clone.log" 2>&1
    in_root 'cd /root && git -c safe.directory=* clone --quiet /srv/clotho.git clotho'
}

# The plain lines with no more than the packages that the README names; then the manual, the completions and the target uninstall.
step_plain() {
    in_root 'apt-get update -qq'
    in_root "apt-get install -qq --no-install-recommends $(packages_of 'build\|library')"
    in_root "$(printed README.md 'cmake -S . -B build/plain ')"
    in_root 'apt-get install -qq --no-install-recommends man-db bash-completion zsh fish'
    in_root "export PATH=\$HOME/.local/bin:\$PATH; clotho --version; $(pages_are_there '$HOME/.local/share' site-functions)"
    in_root 'cmake --build build/plain --target uninstall && test ! -e ~/.local/bin/clotho && test ! -e ~/.local/share/man/man1/clotho.1'
}

step_run() {
    in_root "$(printed README.md './dev run ')"
    in_root 'ls out/cholesky-heft.svg out/radar-steal.json'
}

# `./dev test` builds all of this; its tests themselves are .ci/run's, in a fresh clone like this one.
step_build() {
    in_root "apt-get install -qq --no-install-recommends $(packages_of 'bench\|python')"
    in_root "$(printed CONTRIBUTING.md './dev build ' | sed 's/ && .*//')"
}

# All lines of the README: its programs from C and C++ (17), the ten commands.
step_program() {
    in_root 'python3 -B tests/outside/readme.py build/release .'
}

# All lines and programs of the guides: Python, a cross-built program in qemu, an embedded plan.
step_guides() {
    local names
    names=$(sed -n 's/^# .*needs \(.*\)/\1/p' docs/guides/*.md | tr ',' '\n' | grep -o '[a-z0-9+.-]*[0-9-][a-z0-9+.-]*' | sort -u | tr '\n' ' ')
    in_root "apt-get install -qq --no-install-recommends $names"
    in_root 'CI=1 CLO_FULL=1 python3 -B tests/outside/guides.py build/release .'
}

step_package() {
    in_root "apt-get install -qq --no-install-recommends $(packages_of package)"
    in_root "$(printed packaging/README.md './dev package ') build"
}

# Where nothing was but the essential packages: the packages with what they depend on, and a program in C, C++ and Python with them.
step_install() {
    if [ -z "$is_dry" ]; then
        rm -rf "$folder/user/root/build" "$folder/user/root/clotho"
        mkdir -p "$folder/user/root/build/package"
        cp "$folder"/root/root/clotho/build/package/*.deb "$folder/user/root/build/package"
        (cd "$folder/root/root/clotho" && tar -cf - packaging/debian examples) | (mkdir "$folder/user/root/clotho" && tar -xf - -C "$folder/user/root/clotho")
        mv "$folder/user/root/clotho/packaging/debian" "$folder/user/root/clotho" # where the tests expect themselves in a source package
    fi
    at_user 'apt-get update -qq'
    at_user "$(printed packaging/README.md 'apt install ')"
    at_user 'apt-get install -qq --no-install-recommends man-db bash-completion zsh fish gcc g++ libc6-dev pkg-config cmake make'
    at_user "$(pages_are_there /usr/share vendor-completions)"
    for name in command program module; do
        at_user "clotho/debian/tests/$name"
    done
    at_user 'cc clotho/examples/00_first.c -o first $(pkg-config --cflags --libs clotho) && ./first | tail -n 1 | grep "after both"'
}

fail() {
    local status=$?
    [ "$status" -ne 0 ] && [ -n "$step" ] && [ -z "$is_dry" ] || return 0
    printf '\nstranger: step %s failed (status %d) at\n    %s\n' "$step" "$status" "$line" >&2
    [ ! -s "$folder/$step.log" ] || tail -n 30 "$folder/$step.log" | cut -c1-300 >&2
    printf 'stranger: all of it: %s; again: %s --keep %s %s\n' "$folder/$step.log" tests/outside/stranger.sh "$folder" "$step" >&2
}

take_step() {
    local begin=$SECONDS
    step=$1
    declare -F "step_$step" >/dev/null || { step='' && die "'$1' is no step; the steps are ${STEPS[*]}"; }
    printf '== %s\n' "$step"
    [ -n "$is_dry" ] || rm -f "$folder/$step.log"
    "step_$step"
    times+="$(printf '%6d s  %s' $((SECONDS - begin)) "$step")"$'\n'
}

# is_own FOLDER: it is empty, not there, or has the mark of an earlier call.
is_own() {
    [ ! -e "$1/.stranger" ] || return 0
    [ ! -e "$1" ] || { [ -d "$1" ] && [ -z "$(ls -A "$1")" ]; }
}

while [ $# -gt 0 ]; do
    case $1 in
    --keep)
        [ $# -gt 1 ] || die "--keep needs a folder"
        is_own "$2" || die "$2 holds other things, and its folders root and user would be deleted; name a new folder"
        mkdir -p "$2"
        folder=$(cd "$2" && pwd) && is_kept=1 && shift
        ;;
    --lines) is_dry=1 ;;
    --test) [ -n "${CLO_FULL:-}" ] || is_dry=1 ;;
    -*) die "'$1' is no option; the options are --keep FOLDER, --lines and --test" ;;
    *) steps+=("$1") ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=("${STEPS[@]}")
if [ -z "$is_dry" ]; then
    if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap >/dev/null; then
        echo "skipped: the stranger needs root and mmdebstrap; mend: sudo apt-get install mmdebstrap && sudo tests/outside/stranger.sh"
        exit 77
    fi
    [ -n "$folder" ] || folder=$(mktemp -d)
    touch "$folder/.stranger"
    git diff --quiet HEAD || echo "stranger: what is not committed is not cloned"
    trap fail EXIT
fi
for each in "${steps[@]}"; do
    take_step "$each"
done
step=''
[ -z "$is_dry" ] || exit 0
printf '\nstranger: all good\n%s%6d s  together\n' "$times" "$SECONDS"
[ -n "$is_kept" ] || rm -rf "$folder"
