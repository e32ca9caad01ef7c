"""The emulated board: a kernel, its device tree and an initramfs for QEMU, a boot, and what the board said.

Two clusters of four CPUs: Cortex-A55 of capacity 485 and Cortex-A76 of capacity 1024 (entry.S, board.dts)."""
import os
import re
import shutil
import struct
import subprocess
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
QEMU = "qemu-system-aarch64"
MACHINE = ["-machine", "virt,virtualization=on", "-cpu", "cortex-a76", "-smp", "8,sockets=1,clusters=2,cores=4", "-m", "1G",
           "-nodefaults", "-display", "none"]
IMAGE_BYTES_AT, MAGIC_AT, MAGIC = 16, 56, b"ARM\x64"  # of a kernel's image
LIMIT_S = 1800  # one to two minutes on calm CPUs, five at a load of 5
DONE = re.compile(r"^@begin (\d+)\n(.*?)\n?^@end \1 (\d+) after (\S+) s$", re.DOTALL | re.MULTILINE)


class Done(typing.NamedTuple):
    """A line of steps that has ended."""
    output: str
    status: int
    seconds: float


class Missing(Exception):
    """What is not there, and what mends it."""


def image(entry, kernel):
    """One image of entry.S and the kernel behind it."""
    with open(entry, "rb") as file:
        before = bytearray(file.read())
    with open(kernel, "rb") as file:
        text = file.read()
    assert text[MAGIC_AT:MAGIC_AT + 4] == MAGIC == before[MAGIC_AT:MAGIC_AT + 4], "no uncompressed image of a kernel"
    size, = struct.unpack_from("<Q", text, IMAGE_BYTES_AT)
    struct.pack_into("<Q", before, IMAGE_BYTES_AT, len(before) + size)
    return bytes(before) + text


def device_tree(out):
    """QEMU's own tree with that of board.dts."""
    source = out + ".dts"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([QEMU, *MACHINE, "-machine", f"dumpdtb={out}"], **quiet)
    subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", "-o", source, out], **quiet)
    with open(source, "a", encoding="utf-8") as whole, open(os.path.join(HERE, "board.dts"), encoding="utf-8") as more:
        whole.write(more.read())
    subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", out, source], check=True)


def libraries(programs, sysroot):
    """{name in /lib: file} of all that the programs load, by the sections of their files."""
    found, rest = {}, list(programs)
    while rest:
        printed = subprocess.run(["aarch64-linux-gnu-readelf", "-dl", rest.pop()], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]|interpreter: /lib/(\S+)\]", printed):
            name = "".join(name)
            if name not in found:
                places = [os.path.join(sysroot, folder, name) for folder in ("lib/aarch64-linux-gnu", "lib")]
                found[name] = next(place for place in places if os.path.exists(place))
                rest.append(found[name])
    return found


def initramfs(files):
    """A cpio archive ("newc") of {path: bytes}; each file may be executed."""
    folders = sorted({"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)})
    out = bytearray()
    entries = [(path, 0o040755, b"") for path in folders] + [(path, 0o100755, files[path]) for path in sorted(files)]
    for number, (path, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        out += b"070701" + b"".join(b"%08x" % field for field in fields) + name
        out += bytes(-len(out) % 4) + content
        out += bytes(-len(out) % 4)
    return bytes(out)


def boot(folder, kernel, tree, files):
    """Boots with these files; returns the console and {number: Done} of the lines of steps that have ended."""
    console, archive = os.path.join(folder, "console"), os.path.join(folder, "initramfs")
    with open(archive, "wb") as file:
        file.write(initramfs(files))
    command = [QEMU, *MACHINE, "-accel", "tcg,thread=multi", "-kernel", kernel, "-dtb", tree, "-initrd", archive, "-no-reboot",
               "-serial", f"file:{console}", "-append", "console=ttyAMA0 loglevel=1 panic=-1 rdinit=/init"]
    with subprocess.Popen(command) as board:
        try:
            board.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            print(f"the board has not turned itself off in {LIMIT_S} s")
            board.kill()
    with open(console, "rb") as file:
        said = file.read().replace(b"\r", b"")
    said = said.decode(errors="replace")
    return said, {int(number): Done(output, int(status), float(seconds)) for number, output, status, seconds in DONE.findall(said)}


def kernel_of(folder):
    """The kernel that toolchain/sysroot.sh has unpacked there."""
    names = sorted(os.listdir(os.path.join(folder, "boot"))) if os.path.isdir(os.path.join(folder, "boot")) else []
    found = [os.path.join(folder, "boot", name) for name in names if name.startswith("vmlinuz-")]
    for program, package in ((QEMU, "qemu-system-arm"), ("dtc", "device-tree-compiler")):
        if shutil.which(program) is None:
            raise Missing(f"{program} is not installed; mend: apt-get install {package}")
    if not found:
        raise Missing(f"no kernel for the board; mend: toolchain/sysroot.sh aarch64 {folder} kernel")
    return found[-1]
