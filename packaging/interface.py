#!/usr/bin/env python3
"""The binary interface of the public headers beside packaging/interface.txt: layouts of structs, values, signatures of calls (LP64).

usage: interface.py BUILD [--update] | --self-test. BUILD has the Python package, whose declarations are those of the headers. What docs/ABI.md allows
within a series is only reported as new; anything else is a break. --update writes the file: for what is new, and for a new series. Exit
status 1 after a line for each difference, 77 without the Python package."""
import importlib.util
import pathlib
import sys

STORED = pathlib.Path(__file__).resolve().parent / "interface.txt"
GROWING = {"clo_call", "clo_miss", "clo_plan_progress",  # made by the library, shown by pointer (status.h)
           "clo_driver"}  # has a size, though not as its first field


def declarations(build):
    path = build / "python/clotho/_declarations.py"
    if not path.exists():
        print("skipped: no Python package in this build; mend: apt-get install python3-cffi python3-numpy")
        sys.exit(77)
    spec = importlib.util.spec_from_file_location("declarations", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls(ffi, library):
    """Names and types of what a library has of the declarations."""
    for name in dir(library):
        try:
            if name.startswith("clo_"):
                yield name, ffi.typeof(getattr(library, name)).cname
        except ffi.error:  # another library's
            pass


def of_build(build):
    """{heading: {item: text}}; a struct's heading has its kind, an item its offset and type."""
    made = declarations(build)
    ffi, found = made.ffi, {"constants": {name: str(value) for name, value in made.CONSTANTS.items()}}
    typedefs, structs, _ = ffi.list_types()
    for name in sorted(set(typedefs + structs)):
        if not name.startswith("clo_"):
            continue
        kind = ffi.typeof(name if name in typedefs else "struct " + name)
        if kind.kind == "struct" and kind.fields is not None:
            found["struct " + name] = {field: f"{at.offset} {at.type.cname}" for field, at in kind.fields}
        elif kind.kind == "enum":
            found["enum " + name] = {item: str(value) for item, value in kind.relements.items()}
        elif kind.kind == "pointer":
            found["type " + name] = {"is": kind.cname}
    # libclotho-io needs all others but libclotho-rpc, which a build may lack.
    for library in ("libclotho-io", "libclotho-rpc"):
        for path in sorted(build.glob(f"lib/{library}.so.[0-9]")):
            there = {name for items in found.values() for name in items}
            mine = {name: kind for name, kind in calls(ffi, ffi.dlopen(str(path))) if name not in there}
            found["calls and tables of " + library] = mine
    return found


def parse(text):
    found, current = {}, None
    for line in text.splitlines():
        if line.startswith("    "):
            item, _, value = line.strip().partition(": ")
            current[item] = value
        elif line and not line.startswith("#"):
            current = found.setdefault(line, {})
    return found


def write(interface):
    lines = ["# The binary interface: packaging/interface.py writes it with --update and compares it; docs/ABI.md says what may change."]
    for heading, items in interface.items():
        lines += [heading] + [f"    {item}: {value}" for item, value in items.items()]
    return "\n".join(lines) + "\n"


def may_grow(heading, items):
    """Whether something may be added at the end of it."""
    return not heading.startswith(("struct", "type")) or next(iter(items), None) == "size" or heading.split()[-1] in GROWING


def differences(before, now):
    for heading in before.keys() - now.keys() - {"calls and tables of libclotho-rpc"}:
        yield f"break: {heading} is gone"
    for heading, items in now.items():
        if heading not in before:
            yield f"new: {heading}"
            continue
        old = before[heading]
        for item in old.keys() - items.keys():
            yield f"break: {heading} has no {item} any more"
        for item in old.keys() & items.keys():
            if old[item] != items[item]:
                yield f"break: {heading}: {item} is '{items[item]}', was '{old[item]}'"
        for item in items.keys() - old.keys():
            yield f"{'new' if may_grow(heading, old) else 'break'}: {heading} has {item} now"


def self_test():
    before = parse("struct clo_a\n    size: 0 uint64_t\n    b: 8 int64_t\nstruct clo_p\n    x: 0 int\nenum clo_e\n    CLO_E: 0\ncalls\n    clo_f: int(*)(int)\n")
    cases = [("    b: 8 int64_t\n", "    b: 8 int64_t\n    c: 16 int\n", "new"), ("    b: 8 int64_t\n", "    n: 8 int\n    b: 16 int64_t\n", "break"),
             ("    x: 0 int\n", "    x: 0 int\n    y: 4 int\n", "break"), ("CLO_E: 0", "CLO_E: 1", "break"), ("CLO_E: 0", "CLO_E: 0\n    CLO_F: 1", "new"),
             ("int(*)(int)", "int(*)(long)", "break"), ("    clo_f: int(*)(int)\n", "", "break"), ("calls\n", "calls\n    clo_g: int(*)(int)\n", "new")]
    text = "\n".join(write(before).splitlines()[1:]) + "\n"
    assert parse(write(before)) == before and not list(differences(before, before))
    missed = []
    for old, new, wanted in cases:
        said = {line.partition(":")[0] for line in differences(before, parse(text.replace(old, new, 1)))}
        missed += [new] if old not in text or wanted not in said or wanted == "new" and "break" in said else []
    print(*(f"self-test: not judged as it should be: {new}" for new in missed), sep="\n", end="\n" if missed else "")
    return int(bool(missed))


def main():
    if "--self-test" in sys.argv[1:]:
        return self_test()
    now = of_build(pathlib.Path(sys.argv[1]))
    if "--update" in sys.argv[2:]:
        STORED.write_text(write(now), encoding="utf-8")
    found = sorted(differences(parse(STORED.read_text(encoding="utf-8")), now))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"interface: {len(now)} types, {sum(len(items) for heading, items in now.items() if heading.startswith('calls'))} calls and tables, {len(found)} differences"
          + ("; python3 packaging/interface.py BUILD --update writes what is new; a break needs a new series (docs/ABI.md)" if found else ""))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
