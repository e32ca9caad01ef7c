#!/usr/bin/env python3
"""The calls that the shared libraries export, against packaging/debian/*.symbols, which is what dpkg-gensymbols reads.

usage: symbols.py BUILD [--update]. A public symbol that is gone is a break of the binary interface (docs/ABI.md); a new one is written with
--update, with the version of this release. Internals (CLOTHO_PRIVATE_...) are in one line each. Exit status 1 after saying what differs."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBIAN = ROOT / "packaging/debian"
LINE = re.compile(r" ([^(\s]\S*)@(CLOTHO_\S+) (\S+)$")


def exported(library):
    """Names with their versions, of a shared library."""
    said = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], capture_output=True, text=True, check=True).stdout
    for name in (line.split()[-1] for line in said.splitlines()):
        if "@" in name:
            yield tuple(re.split("@+", name))


def packages():
    """{soname: package}, of what the packages install."""
    return {line.split("/")[-1].replace(".so.*", ".so." + path.stem[-1]): path.stem
            for path in sorted(DEBIAN.glob("lib*[0-9].install")) for line in path.read_text(encoding="utf-8").split()}


def stored():
    """{soname: {name: (version node, first release)}}"""
    found, current = {}, None
    lines = [line for path in sorted(DEBIAN.glob("*.symbols")) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line.startswith("lib"):
            current = found.setdefault(line.split()[0], {})
        elif LINE.match(line):
            name, node, release = LINE.match(line).groups()
            current[name] = (node, release)
    return found


def project():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(clotho VERSION (\S+)", text).group(1)


def write(now, before, release):
    lines = {}
    for soname, symbols in now.items():
        package = packages()[soname]
        nodes = sorted({node for _, node in symbols})
        mine = lines.setdefault(package, [])
        mine += [f"{soname} {package} #MINVER#", "* Build-Depends-Package: libclotho-dev"]
        mine += [f" {node}@{node} {release_of(before, soname, node, release)}" for node in nodes if "PRIVATE" not in node]
        mine += [f" {name}@{node} {release_of(before, soname, name, release)}" for name, node in sorted(symbols) if "PRIVATE" not in node]
        mine.append(f' (regex|optional)"@CLOTHO_PRIVATE_.*$" {release}')  # the version itself is a symbol, also of a library without internals
    for package, text in lines.items():
        (DEBIAN / f"{package}.symbols").write_text("\n".join(text) + "\n", encoding="utf-8")


def release_of(before, soname, name, release):
    return before.get(soname, {}).get(name, (None, release))[1]


def faults(now, before):
    for soname in sorted(before.keys() | now.keys()):
        if soname not in now:
            if "-rpc" not in soname:  # which a build may lack
                yield f"{soname} is gone; programs that need it no longer start"
            continue
        if soname not in packages():
            yield f"{soname} is in no package: name it in a packaging/debian/lib*.install"
            continue
        here = dict(symbol for symbol in now[soname] if "PRIVATE" not in symbol[1])
        there = {name: node for name, (node, _) in before.get(soname, {}).items() if name != node}
        for name in sorted(there.keys() - here.keys()):
            yield f"{soname}: {name} is gone: a break of the binary interface, see docs/ABI.md"
        for name in sorted(here.keys() - there.keys()):
            yield f"{soname}: {name} is new: python3 packaging/symbols.py BUILD --update"
        for name in sorted(here.keys() & there.keys()):
            if here[name] != there[name]:
                yield f"{soname}: {name} has the version {here[name]}, had {there[name]}"


def main():
    build = pathlib.Path(sys.argv[1])
    now = {library.name: set(exported(library)) for library in sorted(build.glob("lib/libclotho*.so.[0-9]*")) if library.is_symlink()}
    if not now:
        sys.exit(f"symbols: there is no libclotho*.so.N in {build}/lib; build it first")
    if "--update" in sys.argv[2:] and now.keys() <= packages().keys():
        write(now, stored(), project())
    wrong = list(faults(now, stored()))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"symbols: {sum(len(symbols) for symbols in stored().values())} stored in {len(now)} libraries, {len(wrong)} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
