# shellcheck shell=bash
# Clean Debian roots for scripts that source this file (package.sh, tests/outside/stranger.sh); both need root.
# make_root FOLDER NAME,...: the essential packages of this system's release, apt, and the named ones.
# inside_root FOLDER COMMAND...: runs it there, in a mount namespace of its own, so nothing stays mounted.

release_name() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

make_root() {
    rm -rf "$1"
    mmdebstrap --quiet --variant=apt --include="$2" "$(release_name)" "$1"
}

inside_root() {
    # shellcheck disable=SC2016 # for the other shell
    unshare --mount sh -c 'root=$1 && shift && for each in proc sys dev; do mount --rbind "/$each" "$root/$each"; done && exec chroot "$root" "$@"' \
        sh "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "${@:2}"
}
