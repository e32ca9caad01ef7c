#!/usr/bin/env python3
"""Makes a wheel of the component "wheel" of a build. usage: wheel.py CMAKE BUILD VERSION OUT

The wheel has the package, the libraries, and the platform files where the libraries look for them. It needs no network, and gives
the same bytes for the same input. The libraries use hwloc, expat, cJSON and liburcu of the system; libclotho-rpc libuv, msgpack, libcurl and sqlite."""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

METADATA = """Metadata-Version: 2.1
Name: clotho
Version: %s
Summary: Plans and runs task graphs on heterogeneous multicore systems
Requires-Python: >=3.9
Requires-Dist: cffi >=1.15
Requires-Dist: numpy
Provides-Extra: all
Requires-Dist: networkx; extra == 'all'
Requires-Dist: pandas; extra == 'all'
Requires-Dist: matplotlib; extra == 'all'
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: clotho\nRoot-Is-Purelib: false\nTag: %s\n"


def contents(prefix):
    """(name in the wheel, bytes) of all files. A library has the one name that it is opened by; zip has no links."""
    for path in sorted(prefix.glob("clotho/**/*")):
        if path.is_file() and (path.suffix in (".py", ".xml") or path.name.endswith(".so.0")):
            yield str(path.relative_to(prefix)), path.resolve().read_bytes()


def main(cmake, build, version, out):
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
        subprocess.run([cmake, "--install", build, "--prefix", folder, "--component", "wheel"], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
        write(pathlib.Path(folder), version, out)


def write(prefix, version, out):
    """The wheel of what is installed in a folder."""
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    information = "clotho-%s.dist-info/" % version
    files = list(contents(prefix))
    files += [(information + "METADATA", (METADATA % version).encode()), (information + "WHEEL", (WHEEL % tag).encode()),
              *((information + name, (prefix / name).read_bytes()) for name in ("LICENSE", "NOTICE"))]
    record = ["%s,sha256=%s,%d" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
              for name, data in files]
    record.append(information + "RECORD,,")
    files.append((information + "RECORD", ("\n".join(record) + "\n").encode()))
    path = pathlib.Path(out) / ("clotho-%s-%s.whl" % (version, tag))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print("%s: %d files, %d KiB" % (path, len(files), path.stat().st_size // 1024))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
