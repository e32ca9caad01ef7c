"""Copies of the project that are built and tested while a fault is in them, and the tests that reach a line.

Three kinds of tree lie below build/mutation/: `plain` (optimised, asserts on), one for each job; `sanitized` (address and
undefined behaviour), which only sees what survives there; `reach` (gcov), which is never mutated and says which test runs which line.
A test runs in a process namespace of its own where the system allows it: what it leaves behind ends with it, and a fault
that signals the wrong process reaches nobody.
"""
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build/mutation"
LIBRARIES = ["lib/libclotho.a", "lib/libclotho-decide.a", "lib/libclotho-io.a"]
FLAGS = {"plain": ["-DCMAKE_C_FLAGS=-O2 -g0"], "reach": ["-DCMAKE_C_FLAGS=-O0 -g0 --coverage -fprofile-update=prefer-atomic"],
         "sanitized": ["-DCMAKE_C_FLAGS=-O1 -g0", "-DCLOTHO_SANITIZE=address"]}
# Tests of other things (headers, installation, benchmarks, the sources' text), and those that need an idle machine.
LEFT_OUT = re.compile(r"^(headers|bench|outside)\.|^stress\.(one-cpu|quota|mutations)$|^rt\.r(09|10)_|^cli\.(layers|readme)$")
# Tests that look at clocks: a machine under load can fail them, so a failure counts only if it comes twice.
TIMED = re.compile(r"^(rt|stress|example)\.|^unit\.test_platform_calibrate$|^unit\.test_plan_best$")
REACH_SECONDS = 120  # a test that takes longer here, where nothing is optimised, is left out
MEMORY_MAX = 4 << 30
OUTPUT_MAX = 1 << 30


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    folder: str
    targets: list  # what ninja must build first


def quietly(command: list, **how) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **how)


def namespace() -> list:
    """The words before a command that give it process ids of its own, or none where that is not allowed."""
    words = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]
    works = shutil.which("unshare") and quietly([*words, "true"]).returncode == 0
    return words if works else []


class Tree:
    """One copy of the sources with its build folder."""

    def __init__(self, name: str, kind: str, alone: list):
        self.folder = SCRATCH / name
        self.source, self.binary, self.kind, self.alone = self.folder / "tree", self.folder / "build", kind, alone
        self.tests = {}

    def update(self) -> None:
        """Brings changed files over; what is equal keeps its time, so that ninja builds nothing twice."""
        listed = quietly(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT).stdout.split("\0")
        wanted = {name for name in listed if name and (ROOT / name).is_file()}
        for name in wanted:
            target, content = self.source / name, (ROOT / name).read_bytes()
            if name == "toolchain/flags.cmake":  # a fault may leave a variable unused; wrong types stay errors
                content = content.replace(b"-Wall -Wextra -Wpedantic ", b"-Werror=int-conversion -Werror=incompatible-pointer-types ")
            if not target.exists() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                shutil.copymode(ROOT / name, target)
        for path in self.source.rglob("*"):
            if path.is_file() and path.relative_to(self.source).as_posix() not in wanted and "__pycache__" not in path.parts:
                path.unlink()

    def build(self, jobs: int) -> None:
        self.update()
        launcher = [f"-DCMAKE_C_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
        configure = ["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.binary), "-DCLOTHO_TESTS=ON",
                     "-DCLOTHO_EXAMPLES=ON", "-DCMAKE_SUPPRESS_REGENERATION=ON", "-DCMAKE_BUILD_TYPE=Debug", f"-DCLOTHO_DATA={ROOT.parent / 'shared/data'}",
                     *launcher, *FLAGS[self.kind]]
        if shutil.which("ld.lld"):
            configure.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
        for command in (configure, ["ninja", "-j", str(jobs), "-C", str(self.binary)]):
            done = quietly(command)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)} fails:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        self.find_tests()

    def find_tests(self) -> None:
        listed = json.loads(quietly(["ctest", "--test-dir", str(self.binary), "--show-only=json-v1"]).stdout)
        for test in listed["tests"]:
            if LEFT_OUT.search(test["name"]):
                continue
            properties = {p["name"]: p["value"] for p in test.get("properties", [])}
            environment = dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", []))
            words = [*test["command"], *environment.values()]
            built = [os.path.relpath(word, self.binary) for word in words if word.startswith(f"{self.binary}/")]
            self.tests[test["name"]] = Test(test["name"], test["command"], environment,
                                            properties.get("WORKING_DIRECTORY", str(self.binary)), built)

    def make(self, targets: list) -> bool:
        """Builds targets from changed sources; without ccache, which would only fill up with faults."""
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        return quietly(["ninja", "-j1", "-C", str(self.binary), *targets], env=environment).returncode == 0

    def library_hash(self) -> str:
        return hashlib.sha256(b"".join((self.binary / library).read_bytes() for library in LIBRARIES)).hexdigest()

    def limit(self) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MAX, OUTPUT_MAX))
        if self.kind != "sanitized":
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))

    def run(self, name: str, limit_s: float, **more) -> str:
        """Runs one test: "" if it passes or skips, else what went wrong, in a word. `more`: of its environment."""
        test = self.tests[name]
        environment = {**os.environ, **test.environment, "ASAN_OPTIONS": "hard_rss_limit_mb=4096:detect_leaks=1", **more}
        process = subprocess.Popen([*self.alone, *test.command], cwd=test.folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=self.limit)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        try:  # the whole group: what a test leaves running ends with it
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        if code is None:
            return "hangs"
        return "" if code in (0, 77) else f"status {code}"

    def fails(self, name: str, limit_s: float) -> str:
        what = self.run(name, limit_s)
        if what and TIMED.search(name):
            what = self.run(name, limit_s)
        return what


class Reach:
    """Which test runs which line, and how long each test takes. Kept in a file: a test whose programs did not change is not
    run again, also if this was cut off. Each job writes gcov's counters into a folder of its own (GCOV_PREFIX)."""

    def __init__(self, tree: Tree):
        self.tree, self.tests, self.code = tree, {}, {}
        self.cache, self.lock = SCRATCH / "reach.jsonl", threading.Lock()

    def read(self) -> dict:
        """What is known already; the last line may be a part of one."""
        known = {}
        for line in self.cache.read_text().splitlines() if self.cache.exists() else []:
            try:
                row = json.loads(line)
                known[row["name"]] = row
            except ValueError:
                continue
        return known

    def find(self, plain: Tree, jobs: int, say) -> None:
        known = self.read()
        todo = []
        for name in sorted(self.tree.tests):
            stamp = self.stamp(name)
            if known.get(name, {}).get("stamp") == stamp:
                self.tests[name] = known[name]
            else:
                todo.append((name, stamp))
        folders = [SCRATCH / f"reach/counters-{n}" for n in range(jobs)]
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            self.prepare(folder)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(self.take, name, stamp, folders, plain, say) for name, stamp in todo]:
                future.result()
        self.code = self.lines(self.tree.binary, "*.gcno", lambda line: True)

    def prepare(self, folder: pathlib.Path) -> None:
        """gcov wants a file's notes beside its counters."""
        for notes in self.tree.binary.rglob("*.gcno"):
            place = folder / notes.relative_to("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(notes)

    def take(self, name: str, stamp: str, folders: list, plain: Tree, say) -> None:
        with self.lock:
            folder = folders.pop()
        row = self.measure(name, folder) | {"name": name, "stamp": stamp}
        if row["failed"].startswith("status"):  # of gcov's own files, perhaps: then what it saw still holds
            row["failed"] = plain.fails(name, 5 * REACH_SECONDS)
        if row["failed"]:
            say(f"{name} {row['failed']} without any fault; it is left out")
        with self.lock:
            folders.append(folder)
            self.tests[name] = row
            with self.cache.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def stamp(self, name: str) -> str:
        test, hash_ = self.tree.tests[name], hashlib.sha256()
        for word in [*test.command, *test.environment.values()]:
            hash_.update(word.encode())
            path = pathlib.Path(word)
            if path.is_file() and self.tree.folder in path.parents:
                hash_.update(path.read_bytes())
        return hash_.hexdigest()

    def measure(self, name: str, folder: pathlib.Path) -> dict:
        for path in folder.rglob("*.gcda"):
            path.unlink()
        began = time.monotonic()
        failed = self.tree.run(name, REACH_SECONDS, GCOV_PREFIX=str(folder))
        took = time.monotonic() - began
        lines = self.lines(folder, "*.gcda", lambda line: line["count"] > 0)
        return {"failed": failed, "seconds": took, "lines": {path: sorted(found) for path, found in lines.items()}}

    def lines(self, folder: pathlib.Path, files: str, wanted) -> dict:
        """The lines of runtime/ that gcov finds in some files of a folder."""
        found = {}
        paths = [str(path) for path in folder.rglob(files)]
        done = quietly(["gcov", "--json-format", "--stdout", *paths], cwd=self.tree.binary) if paths else None
        for document in done.stdout.splitlines() if done else []:
            for file in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(self.tree.binary, file["file"]), self.tree.source)
                if path.startswith("runtime/"):
                    found.setdefault(path, set()).update(line["line_number"] for line in file["lines"] if wanted(line))
        return found

    def tests_of(self, file: str, first: int, line: int) -> list | None:
        """The tests that reach a line, or the line before it that has code of its own; None where nothing was compiled."""
        known = [number for number in self.code.get(file, ()) if first <= number <= line]
        if not known:
            return None
        return [name for name, test in self.tests.items() if not test["failed"] and max(known) in test["lines"].get(file, ())]
