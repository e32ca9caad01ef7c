#!/usr/bin/env python3
"""Fails if objects contain floating point: disassembles them and looks at each instruction and each symbol from outside.

usage: check_no_float.py OBJECT...      x86-64, aarch64 or riscv64, each with its own objdump
       check_no_float.py --self-test    a double planted into a kernel must be found, for each compiler that is there

Vector registers are shared with integers, so mnemonics are what is judged. Moves and shuffles that only have a floating-point
name are allowed: compilers use them for integers. Symbols from outside must be in a short list, so that no arithmetic in
software and no function of libm slips in.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYMBOLS = re.compile(r"clo_\w+|mem(cpy|set|move|cmp|chr)|bcmp|str(len|cmp)|snprintf|getauxval|__cpu_(model|features2|indicator_init)|__assert_fail|__clz[ds]i2|__stack_chk_fail|"
                     r"_GLOBAL_OFFSET_TABLE_|\.\w[\w.]*")

# x86: what ends like a floating-point type, but not integer ones (vp..., p...), nor moves, shuffles and bit operations.
X86_MOVES = re.compile(r"v?(mov(a|u|l|h|lh|hl|nt|msk)p[sd]|(and|andn|or|xor)p[sd]|shufp[sd]|unpck[lh]p[sd]|"
                       r"blendv?p[sd]|broadcasts[sd])")
X86_FLOAT = re.compile(r"f(?!xsave|xrstor)[a-z].*|v?cvt.*|(?!v?p)[a-z0-9]+(ss|sd|ps|pd|sh|ph)")
ARM_FLOAT = re.compile(r"f[a-z].*|[su]cvtf|bf(dot|mmla|cvt|mlal).*")
RISCV_FLOAT = re.compile(r"f(?!ence)[a-z].*|vf(?!irst)[a-z].*|vmf[a-z].*")


def is_float_x86(mnemonic, _):
    return X86_FLOAT.fullmatch(mnemonic) is not None and X86_MOVES.fullmatch(mnemonic) is None


def is_float_arm(mnemonic, operands):
    if mnemonic == "fmov":  # between registers it moves bits
        return "#" in operands
    return ARM_FLOAT.fullmatch(mnemonic) is not None


def is_float_riscv(mnemonic, _):
    return RISCV_FLOAT.fullmatch(mnemonic) is not None


# e_machine of ELF: name, prefix of the tools, judge
MACHINES = {62: ("x86_64", "x86_64-linux-gnu-", is_float_x86), 183: ("aarch64", "aarch64-linux-gnu-", is_float_arm),
            243: ("riscv64", "riscv64-linux-gnu-", is_float_riscv)}
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+([a-z][\w.]*)\s*(.*)$")
UNDEFINED = re.compile(r"\*UND\*\s+\S+\s+(?:\.hidden\s+)?(\S+)$")


def tool(prefix, name):
    return shutil.which(prefix + name) or shutil.which(name)


def faults(path):
    """Lines on what is floating point in one object, and the number of instructions seen."""
    with open(path, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") not in MACHINES:
        return ["%s: no object of a machine that this script knows" % path], 0
    _, prefix, is_float = MACHINES[int.from_bytes(head[18:20], "little")]
    text = subprocess.run([tool(prefix, "objdump"), "-d", "-t", "--no-show-raw-insn", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found, count = [], 0
    for line in text.splitlines():
        instruction, undefined = INSTRUCTION.match(line), UNDEFINED.search(line)
        if instruction:
            count += 1
            if is_float(instruction.group(1), instruction.group(2)):
                found.append("%s: %s %s" % (path, instruction.group(1), instruction.group(2)))
        elif undefined and not SYMBOLS.fullmatch(undefined.group(1)):
            found.append("%s: needs %s" % (path, undefined.group(1)))
    return found, count


def check(paths):
    found, count = [], 0
    for path in paths:
        mine, instructions = faults(path)
        found += mine
        count += instructions
    for line in found[:40]:
        print(line)
    print("no floating point: %d objects, %d instructions: %s" % (
        len(paths), count, "clean" if not found and count else "%d faults" % len(found) if count else "NOTHING SEEN"))
    return 1 if found or not count else 0


# What is planted in kernels/scalar/sums_scalar.c: text, its replacement, compiler options; None: nothing.
CLAMP = "y[i] = (int8_t)clo_clamp(x[i], lo, hi);"
PLANTS = {
    "nothing": (CLAMP, CLAMP, ["-O3"]),
    "a double": (CLAMP, "y[i] = (int8_t)(clo_clamp(x[i], lo, hi) * 1.0000001);", ["-O3"]),
    "a float": (CLAMP, "y[i] = (int8_t)((float)x[i] + 0.5f);", []),
    "a long double": (CLAMP, "y[i] = (int8_t)((long double)x[i] / 3);", []),
    "a function of libm": (CLAMP, "{ extern long lround(double); y[i] = (int8_t)(x[i] + (long)(void *)lround); }", []),
}


def self_test():
    source = (ROOT / "kernels/scalar/sums_scalar.c").read_text(encoding="utf-8")
    failed = done = 0
    for compiler in ("gcc", "clang", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"):
        if shutil.which(compiler) is None:
            if os.environ.get("CI") and compiler != "clang":
                print("self-test: %s is not installed" % compiler)
                failed = 1
            continue
        for name, (old, new, options) in PLANTS.items():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "planted.c")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source.replace(old, new, 1))
                subprocess.run([compiler, "-std=c17", "-O2", *options, "-w", "-I", str(ROOT), "-c", path, "-o", path + ".o"],
                               check=True)
                found, count = faults(path + ".o")
            done += 1
            if old not in source or count == 0 or bool(found) == name.startswith("nothing"):
                print("self-test: %s, planted %s: %d instructions, %s" % (compiler, name, count, found))
                failed = 1
    print("no floating point: self-test %s, %d objects" % ("FAILED" if failed else "passed", done))
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else check(sys.argv[1:]))
