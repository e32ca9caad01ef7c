"""The README's install lines work as they are printed: in a fresh HOME, a shell runs them one after the other, and the program
prints what its comment says. usage: readme.py BUILD SOURCE"""
import os
import re
import subprocess
import sys
import tempfile


def install_lines(source):
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```\w*\n(.*?)^```", file.read(), re.S | re.M)
    blocks = [block for block in blocks if "cmake --install" in block]
    if len(blocks) != 1:
        sys.exit("README.md has %d blocks with cmake --install; it should have one" % len(blocks))
    return blocks[0]


def main():
    build, source = map(os.path.abspath, sys.argv[1:3])
    lines = install_lines(source)
    with tempfile.TemporaryDirectory() as work:
        home = os.path.join(work, "home")
        os.mkdir(home)
        os.mkdir(os.path.join(work, "build"))
        os.symlink(build, os.path.join(work, "build", "release"))
        os.symlink(os.path.join(source, "examples"), os.path.join(work, "examples"))
        environment = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C"}
        done = subprocess.run(["sh", "-e", "-c", lines], cwd=work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        print(done.stdout)
        if done.returncode != 0:
            return "the lines fail with %d" % done.returncode
        for said in re.findall(r"^\./\S+ +# (.*)$", lines, re.M):
            if said not in done.stdout.splitlines():
                return "no line reads '%s'" % said
    return 0


if __name__ == "__main__":
    sys.exit(main())
