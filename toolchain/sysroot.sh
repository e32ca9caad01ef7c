#!/usr/bin/env bash
# The system that a cross-build links with and that qemu-user runs in: packages of another architecture, unpacked into a folder.
# usage: toolchain/sysroot.sh aarch64|riscv64 FOLDER [kernel]    with "kernel": the kernel of an emulated board and nothing else
#
# apt gets its own lists and an empty status file, so that the host needs neither the foreign architecture nor root. The mirror is
# the host's own. Packages are the line `sysroot`, or `kernel`, of debian-packages.txt; riscv64 is in Debian from release 13
# (trixie) on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

die() {
    printf 'sysroot.sh: %s\n' "$*" >&2
    exit 1
}

what=${3:-sysroot}
if [ $# -lt 2 ] || [ $# -gt 3 ] || [[ ! $what =~ ^(sysroot|kernel)$ ]]; then
    die "usage: toolchain/sysroot.sh aarch64|riscv64 FOLDER [kernel]"
fi
case $1 in
aarch64) debian=arm64 suite=bookworm packages=() ;;
riscv64) debian=riscv64 suite=trixie packages=(libgcc-14-dev) ;; # clang has no cross gcc beside it
*) die "there is no '$1'; use aarch64 or riscv64" ;;
esac
[ "$what" = sysroot ] || packages=()
mapfile -t -O ${#packages[@]} packages < <(sed -n "s/^$what: *//p" "$here/debian-packages.txt" | tr ' ' '\n')
wanted="$suite ${packages[*]}"
[ "$(cat "$2/.packages" 2>/dev/null)" = "$wanted" ] && exit 0 # made before, of the same packages

# shellcheck disable=SC2016 # apt's own variables
find_mirror() { apt-get indextargets --format '$(SITE) $(ORIGIN) $(LABEL)' 'Created-By: Packages' | sed -n 's/ Debian Debian$//p' | head -n 1; }
mirror=$(find_mirror)
if [ -z "$mirror" ]; then # its lists were removed
    apt-get update -qq || true
    mirror=$(find_mirror)
fi
[ -n "$mirror" ] || die "apt knows no mirror of Debian; add one to its sources and run: apt-get update"
keys=/usr/share/keyrings/debian-archive-keyring.gpg

rm -rf "$2"
mkdir -p "$2/.apt/lists/partial" "$2/.apt/archives/partial"
root=$(cd "$2" && pwd)
apt=$root/.apt
: >"$apt/status"
echo "deb [signed-by=$keys] $mirror $suite main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<TEXT
APT::Architecture "$debian";
APT::Architectures {"$debian";};
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$apt";
Dir::State::Status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::PreferencesParts "-";
TEXT
export APT_CONFIG=$apt/apt.conf
apt-get update -qq >"$apt/log" 2>&1 || die "apt-get update failed: $(tail -n 3 "$apt/log")"
if [ "$what" = kernel ]; then # the package of the line names that of the newest kernel; what else this needs, we do not
    mapfile -t packages < <(apt-cache depends "${packages[@]}" 2>>"$apt/log" | sed -n 's/^ *Depends: //p')
    [ ${#packages[@]} -gt 0 ] || die "there is no kernel for $1 in $suite"
    (cd "$apt/archives" && apt-get download -qq "${packages[@]}") >>"$apt/log" 2>&1 || die "apt-get failed: $(tail -n 3 "$apt/log")"
    for file in "$apt"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --no-same-owner --wildcards './boot/vmlinuz-*'
    done
    rm -rf "$apt"
    printf '%s' "$wanted" >"$root/.packages"
    exit
fi
apt-get install -qq --download-only --no-install-recommends --yes "${packages[@]}" >>"$apt/log" 2>&1 ||
    die "apt-get failed: $(tail -n 3 "$apt/log")"

mkdir -p "$root"/usr/{bin,sbin,lib}
for name in bin sbin lib; do # before packages that still put files there
    ln -s "usr/$name" "$root/$name"
done
for file in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --no-same-owner --keep-directory-symlink --exclude='./usr/share/*' --exclude='./etc/*'
done
# Links to absolute paths are meant for the other machine's root.
find "$root" -type l -lname '/*' | while IFS= read -r link; do
    ln -sfrn "$root$(readlink "$link")" "$link"
done
rm -rf "$apt"
printf '%s' "$wanted" >"$root/.packages"
