#!/usr/bin/env python3
"""The recipes of packaging/ agree with CMakeLists.txt: one version, options that exist, and every library that the build asks for.

usage: check.py [--self-test]. What is asked of each: packaging/README.md. Exit status 1 after a line for each fault."""
import ast
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPES = {"debian": "debian/control", "docker": "docker/Dockerfile", "yocto": "yocto/clotho_{version}.bb", "buildroot": "buildroot/clotho/clotho.mk",
           "conan": "conan/conanfile.py", "vcpkg": "vcpkg/vcpkg.json", "spack": "spack/package.py"}
OTHERS = ["debian/rules", "debian/changelog", "vcpkg/portfile.cmake"]
# What each calls the modules of pkg-config that CMakeLists.txt asks for. A module that is not here is a fault: it is new.
NAMES = {"hwloc": {"debian": "libhwloc-dev", "docker": "libhwloc-dev"}, "expat": {"debian": "libexpat1-dev", "docker": "libexpat1-dev"},
         "liburcu-bp": {"debian": "liburcu-dev", "docker": "liburcu-dev", "yocto": "liburcu", "buildroot": "liburcu", "vcpkg": "liburcu",
                        "conan": "userspace-rcu", "spack": "userspace-rcu"},
         "libcjson": {"debian": "libcjson-dev", "docker": "libcjson-dev", "yocto": "cjson", "conan": "cjson", "vcpkg": "cjson", "spack": "cjson"}}
# What an option brings: a recipe that turns it off needs none of these.
BROUGHT = {"CLOTHO_HWLOC": ["hwloc", "expat"], "CLOTHO_IO": ["libcjson"], "CLOTHO_LP": [], "CLOTHO_MPI": []}


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


def dependencies(kind, text):
    """The part of a recipe that names what is needed to build."""
    pattern = {"debian": r"^Build-Depends:(.*?)^Standards", "docker": r"apt-get install(.*?)rm -rf", "yocto": r"^DEPENDS = \"(.*?)\"",
               "buildroot": r"^CLOTHO_DEPENDENCIES = (.*?)$", "conan": r"def requirements\(self\):(.*?)def ", "vcpkg": r"\"dependencies\": \[(.*?)\]\s*}",
               "spack": r"(depends_on.*)conflicts"}[kind]
    found = re.search(pattern, text, re.S | re.M)
    return set(re.findall(r"[\w][\w.+-]*", found.group(1))) if found else set()


def off(kind, root, text):
    """Options that a recipe turns off."""
    text += read(root, "packaging/vcpkg/portfile.cmake") if kind == "vcpkg" else ""
    return set(re.findall(r"-D(CLOTHO_\w+)=OFF", text))


def versions(root, version):
    series = version.rpartition(".")[0]
    for name, pattern in {"CHANGELOG.md": rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", "packaging/debian/changelog": rf"^clotho \({re.escape(version)}-",
                          "packaging/buildroot/clotho/clotho.mk": rf"^CLOTHO_VERSION = {re.escape(version)}$",
                          "packaging/conan/conanfile.py": rf'^    version = "{re.escape(version)}"$',
                          "packaging/vcpkg/vcpkg.json": rf'"version": "{re.escape(version)}"', "packaging/spack/package.py": rf'version\("{re.escape(version)}"',
                          "README.md": rf"^Version {re.escape(version)}\.", "packaging/debian/tests/program": rf"find_package\(clotho {re.escape(series)} "}.items():
        if not re.search(pattern, read(root, name), re.M):
            yield f"{name} does not say version {version}, which CMakeLists.txt does"


def portfile(root):
    """CMake reads vcpkg's file, with calls of vcpkg's that do nothing."""
    path = root / "packaging/vcpkg/portfile.cmake"
    calls = sorted(set(re.findall(r"^(vcpkg_\w+)\(", path.read_text(encoding="utf-8"), re.M)))
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "read.cmake"
        script.write_text("cmake_minimum_required(VERSION 3.25)\n" + "".join(f"function({call})\nendfunction()\n" for call in calls) +
                          f'set(CURRENT_PACKAGES_DIR "{folder}/none")\ninclude("{path}")\n'
                          'if(NOT EXISTS "${SOURCE_PATH}/CMakeLists.txt")\n  message(FATAL_ERROR "no source")\nendif()\n', encoding="utf-8")
        said = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=False)
    if said.returncode:
        yield f"{path.relative_to(root)}: {' '.join(said.stderr.split())}"


def syntax(root):
    """What can be read without the tools of the others."""
    for name in ["conan/conanfile.py", "spack/package.py"]:
        try:
            ast.parse(read(root, "packaging/" + name))
        except SyntaxError as error:
            yield f"packaging/{name}:{error.lineno}: {error.msg}"
    try:
        json.loads(read(root, "packaging/vcpkg/vcpkg.json"))
    except ValueError as error:
        yield f"packaging/vcpkg/vcpkg.json: {error}"
    make = shutil.which("make")
    stub = "cmake-package :=\n"
    if make:
        said = subprocess.run([make, "-s", "-n", "-f", "-", "none"], input=stub + read(root, "packaging/buildroot/clotho/clotho.mk") + "\nnone:\n",
                              capture_output=True, text=True, check=False)
        if said.returncode:
            yield f"packaging/buildroot/clotho/clotho.mk: {said.stderr.strip()}"
    for line in read(root, "packaging/docker/Dockerfile").replace("\\\n", " ").splitlines():
        if line and not re.match(r"(#|FROM|RUN|COPY|USER|WORKDIR|ENTRYPOINT|CMD)\b|#", line):
            yield f"packaging/docker/Dockerfile: {line}"
    yield from portfile(root)
    bitbake = read(root, next((root / "packaging/yocto").glob("*.bb")).relative_to(root))
    if hashlib.md5((root / "LICENSE").read_bytes()).hexdigest() not in bitbake:
        yield "packaging/yocto: the sum of LICENSE is another"
    for line in bitbake.splitlines():
        if line and not re.match(r'(#.*|inherit [\w ]+|[A-Z_]+(:\$\{PN\}(-\w+)?)? (=|=\+|\?=) "[^"]*")$', line):
            yield f"packaging/yocto: {line}"


def left_open(root, build, names):
    """Options that take what happens to be installed: a recipe sets each of them."""
    for option in re.findall(r'option\((CLOTHO_\w+) "[^"]* where [^"]*installed"', build):
        for folder in sorted({name.split("/")[0] for name in names}):
            if not any(option in path.read_text(encoding="utf-8") for path in (root / "packaging" / folder).rglob("*") if path.is_file()):
                yield f"packaging/{folder} does not set {option}, so the build takes what it finds"


def faults(root):
    build = read(root, "CMakeLists.txt")
    version = re.search(r"project\(clotho VERSION (\S+)", build).group(1)
    modules = set(re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", build))
    everywhere = build + "".join(read(root, name.relative_to(root)) for name in root.glob("[tb]*/**/CMakeLists.txt"))
    options = set(re.findall(r"option\((CLOTHO_\w+)", build)) | set(re.findall(r"set\((CLOTHO_\w+) .*CACHE", everywhere))
    yield from (f"check.py does not know {module}, which CMakeLists.txt asks for" for module in sorted(modules - NAMES.keys()))
    yield from versions(root, version)
    yield from left_open(root, build, RECIPES.values())
    yield from syntax(root)
    for kind, name in RECIPES.items():
        name = "packaging/" + name.format(version=version)
        if not (root / name).exists():
            yield f"{name} is not there; is it of another version?"
            continue
        text = read(root, name)
        named, without = dependencies(kind, text), off(kind, root, text)
        needless = {module for option in without for module in BROUGHT.get(option, [])}
        for module in sorted(modules & NAMES.keys()):
            wanted = NAMES[module].get(kind, module)
            if module in needless and wanted in named:
                yield f"{name} needs {wanted}, and turns off what uses it"
            if module not in needless and wanted not in named:
                yield f"{name} does not name {wanted} ({module})"
    for name in [*(value.format(version=version) for value in RECIPES.values()), *OTHERS]:
        path = root / "packaging" / name
        used = set(re.findall(r"CLOTHO_[A-Z_]+", path.read_text(encoding="utf-8"))) if path.exists() else set()
        if "buildroot" in name:
            used = set(re.findall(r"-D(CLOTHO_\w+)=", path.read_text(encoding="utf-8")))
        yield from (f"packaging/{name} sets {option}, which the build does not have" for option in sorted(used - options))


def self_test():
    """Each rule is broken once."""
    broken = {"packaging/conan/conanfile.py": ("hwloc/[", "hwlock/["), "packaging/vcpkg/vcpkg.json": ('"expat",', ""),
              "packaging/spack/package.py": ('version("0', 'version("9'), "packaging/docker/Dockerfile": ("-DCLOTHO_MPI", "-DCLOTHO_MPX"),
              "packaging/buildroot/clotho/clotho.mk": ("pkgconf liburcu", "pkgconf"), "CMakeLists.txt": ("IMPORTED_TARGET expat", "IMPORTED_TARGET libxml2"),
              "packaging/debian/control": ("liburcu-dev", "liburcux-dev"), "LICENSE": ("Apache", "Apaches"), next((ROOT / "packaging/yocto").glob("*.bb")).relative_to(ROOT).as_posix(): ("inherit cmake", "inherits cmake"),
              "packaging/vcpkg/portfile.cmake": ("../..", ".."), "packaging/debian/rules": ("-DCLOTHO_LP=ON", "")}
    missed = []
    for name, (old, new) in broken.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for part in ["CMakeLists.txt", "CHANGELOG.md", "LICENSE", "README.md", "packaging", "tools/pages", "bindings/python/CMakeLists.txt"]:
                target = root / part
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, target)
            text = read(root, name)
            assert old in text, (name, old)
            (root / name).write_text(text.replace(old, new), encoding="utf-8")
            if not list(faults(root)):
                missed.append(f"self-test: '{new}' in {name} is not noticed")
    print(*missed, sep="\n", end="\n" if missed else "")
    return int(bool(missed))


def main():
    if "--self-test" in sys.argv[1:]:
        return self_test()
    wrong = list(faults(ROOT))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"packaging: {len(RECIPES)} recipes, {len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
