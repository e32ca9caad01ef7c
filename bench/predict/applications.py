#!/usr/bin/env python3
"""Predictions and runs of the radar and of a Cholesky factorisation, as ./dev run has them: one JSON object, "rows" with what each
application prints, and "how": heft, deft, steal, or device (HEFT's plan with a device of OpenCL, where there is one).

usage: applications.py BIN [--quick]          BIN: the folder of clotho, example-radar and example-cholesky"""
import json
import os
import subprocess
import sys
import tempfile


def call(program, *words, **environment):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}).stdout


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-") or sys.argv[2:] not in ([], ["--quick"]):
        sys.exit(__doc__)
    folder, quick, rows = os.path.abspath(sys.argv[1]), sys.argv[2:], []
    clotho = os.path.join(folder, "clotho")
    has_device = any(line.split()[:2] == ["opencl", "used"] for line in call(clotho, "list", "drivers").splitlines())
    with tempfile.TemporaryDirectory() as temporary:
        platform = os.path.join(temporary, "native.xml")
        call(clotho, "platform", "calibrate", *quick, "-o", platform)
        for app in ("cholesky", "radar"):
            program = os.path.join(folder, "example-" + app)
            for how in ("heft", "deft", "steal"):
                rows.append({"how": how, **json.loads(call(program, "--planner", how, "--platform", platform, "--json", *quick))})
            if has_device and os.cpu_count() > 1:  # of PoCL, which is a CPU, one thread
                said = call(program, "--planner", "heft", "--device", "0", "--workers", str(os.cpu_count() - 1), "--json", *quick,
                            POCL_MAX_PTHREAD_COUNT="1")
                rows.append({"how": "device", **json.loads(said)})
    print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit("applications.py: %s" % error)
