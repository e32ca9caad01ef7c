"""What the tests of several machines share: three network namespaces on one bridge, each with a clock and a host name of
its own, and the two MPIs in them. A rank in a namespace has no other way to the others than its veth, whose counters
are read; shared memory of the MPIs is turned off.

CLOTHO_BIN names the folder of the programs, CLO_RUNS multiplies the numbers of runs (1: a few seconds for each test)."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tools"))
import calm  # pylint: disable=wrong-import-position
BIN = os.path.abspath(os.environ.get("CLOTHO_BIN", os.path.join(SOURCE, "build/release/bin")))
RUNS = float(os.environ.get("CLO_RUNS", "1"))
SANITIZED = os.environ.get("CLO_SANITIZED", "")
BUSY = 0.25  # from here on times of several processes say little
NET = "10.87.%d" % (os.getpid() % 250 + 1)
SKIPPED = 77


def skip(why, mend="run the tests as root, with CAP_SYS_ADMIN"):
    print("skipped: %s; mend: %s" % (why, mend))
    sys.exit(SKIPPED)


def run(*command, check=True, **how):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, **how)
    if check and done.returncode != 0:
        raise RuntimeError("%s: %d\n%s%s" % (" ".join(map(str, command)), done.returncode, done.stdout, done.stderr))
    return done


def needs_namespaces():
    """Skips the whole script where this user may make none."""
    if os.geteuid() != 0:
        skip("network namespaces need root")
    if shutil.which("ip") is None:
        skip("no 'ip'", "apt-get install iproute2")
    name = "clo%d-try" % os.getpid()
    if run("ip", "netns", "add", name, check=False).returncode != 0:
        skip("this system allows no network namespaces (a container without CAP_SYS_ADMIN?)")
    tried = run("ip", "netns", "exec", name, "true", check=False)
    run("ip", "netns", "del", name)
    if tried.returncode != 0:
        skip("nothing runs in a network namespace: %s" % tried.stderr.strip(), "in a chroot, mount --bind its folder on itself first")


class Machines:
    """Namespaces with one veth each, on a bridge in a namespace of its own.

    shifts: of the clocks in s; rate: of what leaves a machine, by its number or for all; burst: of that, in bytes; delay_us: of
    each way, by netem or, between two machines, by relay.py."""

    made_so_far = 0

    def __init__(self, count=3, shifts=(), rate=None, burst=32768, delay_us=0):
        Machines.made_so_far += 1  # several may be there at once
        self.prefix = "c%d%s" % (os.getpid() % 100000, chr(ord("a") + (Machines.made_so_far - 1) % 26))
        self.names = ["%sr%s" % (self.prefix, "ABCDEFGH"[i]) for i in range(count)]
        self.switch = self.prefix + "sw"
        self.shifts = list(shifts) + [0] * (count - len(shifts))
        self.folder = tempfile.TemporaryDirectory()
        self.made = []
        self.more = {"openmpi": [], "mpich": []}  # words for the launchers
        self.relay = None
        try:
            if delay_us > 0 and not self.has_netem():
                self.make_relay(delay_us)
            else:
                self.make(rate if isinstance(rate, dict) else {i: rate for i in range(count)}, burst, delay_us)
        except BaseException:
            self.close()
            raise

    def has_netem(self):
        name = self.prefix + "try"
        self.add(name)
        return run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms",
                   check=False).returncode == 0

    def make_relay(self, delay_us):
        if len(self.names) != 2 or not os.path.exists("/dev/net/tun"):
            skip("no netem in this kernel, and no /dev/net/tun for a relay", "modprobe sch_netem, or modprobe tun")
        for name in self.names:
            self.add(name)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
        self.relay = subprocess.Popen([sys.executable, "-B", script, *self.names, "veth0", str(delay_us)],
                                      stdout=subprocess.PIPE, text=True)
        if self.relay.stdout.readline() != "ready\n":
            skip("relay.py cannot make TUN devices in namespaces")
        for i, name in enumerate(self.names):
            run("ip", "-n", name, "addr", "add", "%s.%d/24" % (NET, i + 1), "dev", "veth0")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", "veth0", "up")
        self.write_agents()

    def make(self, rate, burst, delay_us):
        self.add(self.switch)
        inside = ("ip", "netns", "exec", self.switch)
        run(*inside, "ip", "link", "add", "br0", "type", "bridge")
        run(*inside, "ip", "link", "set", "br0", "up")
        for i, name in enumerate(self.names):
            self.add(name)
            run("ip", "link", "add", "veth0", "netns", name, "type", "veth", "peer", "name", "p%d" % i, "netns",
                self.switch)
            run("ip", "-n", name, "addr", "add", "%s.%d/24" % (NET, i + 1), "dev", "veth0")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", "veth0", "up")
            run("ip", "-n", self.switch, "link", "set", "p%d" % i, "master", "br0", "up")
            if rate.get(i) is not None:
                run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "veth0", "root", "tbf", "rate", rate[i],
                    "burst", str(burst), "latency", "200ms")
            if delay_us > 0:
                run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "veth0", "root", "netem", "delay",
                    "%dus" % delay_us)
        self.write_agents()

    def add(self, name):
        run("ip", "netns", "add", name)
        self.made.append(name)

    def write_agents(self):
        """What the launchers take for ssh: HOST COMMAND..."""
        shift = "\n".join("  %s|%s.%d) t='--time --monotonic %d --boottime %d';;" % (n, NET, i + 1, s, s)
                          for i, (n, s) in enumerate(zip(self.names, self.shifts)) if s != 0)
        names = "\n".join("  %s.%d) ns=%s;;" % (NET, i + 1, n) for i, n in enumerate(self.names))
        self.agent = os.path.join(self.folder.name, "agent")
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncase $1 in -x) shift;; esac\nns=$1; t=; shift\ncase $ns in\n%s\nesac\ncase $ns in\n%s\n"
                       "  *) :;;\nesac\nexec ip netns exec $ns unshare --uts $t sh -c \"hostname $ns; $*\"\n" % (names, shift))
        os.chmod(self.agent, 0o755)
        hosts = os.path.join("/etc/netns")
        for i, name in enumerate(self.names):  # names must lead to addresses inside
            os.makedirs(os.path.join(hosts, name), exist_ok=True)
            with open(os.path.join(hosts, name, "hosts"), "w", encoding="utf-8") as file:
                file.write("127.0.0.1 localhost\n")
                for k, other in enumerate(self.names):
                    file.write("%s.%d %s\n" % (NET, k + 1, other))

    def close(self):
        if self.relay is not None:
            self.relay.kill()
            self.relay.communicate()
        for name in self.made:
            pids = run("ip", "netns", "pids", name, check=False).stdout.split()
            for pid in pids:
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except (OSError, ValueError):
                    pass
            run("ip", "netns", "del", name, check=False)
            shutil.rmtree(os.path.join("/etc/netns", name), ignore_errors=True)
        self.folder.cleanup()

    def sent_bytes(self):
        """Bytes that left the machines so far."""
        total = 0
        for name in self.names:
            said = run("ip", "-n", name, "-s", "-j", "link", "show", "dev", "veth0").stdout
            total += json.loads(said)[0]["stats64"]["tx"]["bytes"]
        return total

    def cluster(self, latency_ns=30000, bandwidth=0.1, platform="uniform:1", platforms=None, **more):
        """A cluster file of these machines; returns its path."""
        path = os.path.join(self.folder.name, "cluster.json")
        machines = [{"name": n, "platform": (platforms or {}).get(i, platform)} for i, n in enumerate(self.names)]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.cluster/1", "name": "test", "machines": machines,
                       "link": {"latency_ns": latency_ns, "bandwidth_bytes_per_ns": bandwidth}, **more}, file)
        return path

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, engine, *arguments, program=None):
        """The words that start one rank on each machine; program: in place of the command."""
        if engine == "openmpi":
            launch = ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "--mca", "plm_rsh_agent", self.agent, "--mca", "pml", "ob1",
                      "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", NET + ".0/24", "--mca",
                      "oob_tcp_if_include", NET + ".0/24", "--mca", "plm_rsh_no_tree_spawn", "1", *self.more[engine], "-host",
                      ",".join(n + ":1" for n in self.names), "-np", str(len(self.names))]
            program = program or os.path.join(BIN, "clotho-mpi")
        else:
            launch = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", self.agent, "-iface", "veth0", "-hosts",
                      ",".join(n + ":1" for n in self.names), "-bind-to", "none", "-np", str(len(self.names)), "-genv",
                      "UCX_TLS", "tcp,self", *self.more[engine], "-genv", "UCX_NET_DEVICES", "veth0"]
            program = program or os.path.join(BIN, "clotho-mpich")
        inside = " ".join("'%s'" % w for w in [*launch, program, *map(str, arguments)])
        shift = self.shifts[0]
        time_words = ["--time", "--monotonic", str(shift), "--boottime", str(shift)] if shift else []
        return ["ip", "netns", "exec", self.names[0], "unshare", "--uts", *time_words, "sh", "-c",
                "hostname %s; exec %s" % (self.names[0], inside)]

    def start(self, engine, *arguments, program=None):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.Popen(self.command(engine, *arguments, program=program), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", env=environment, start_new_session=True)

    def each(self, engine, words):
        """A program for start: `words` gives each machine, by its number, the first arguments of its rank."""
        path = self.path("each")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncase $(hostname) in\n")
            for name, own in zip(self.names, words):
                file.write("  %s) set -- %s \"$@\";;\n" % (name, " ".join("'%s'" % w for w in own)))
            file.write("esac\nexec %s \"$@\"\n" % os.path.join(BIN, PROGRAM[engine]))
        os.chmod(path, 0o755)
        return path

    def run(self, engine, *arguments, timeout=400 + 20 * RUNS, program=None):
        """The JSON object that rank 0 prints. The timeout finds a run that hangs, on a machine that has much else to do."""
        process = self.start(engine, *arguments, "--unpinned", "--json", "--silence", "30s", program=program)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if process.returncode != 0 or not lines:
            raise RuntimeError("%s: exit %d\n%s\n%s" % (" ".join(process.args), process.returncode, out, err))
        return json.loads(lines[-1])

    def ranks(self, program):
        """(machine, pid) of the ranks that run, in order."""
        found = []
        for name in self.names:
            for pid in run("ip", "netns", "pids", name, check=False).stdout.split():
                try:
                    exe = os.readlink("/proc/%s/exe" % pid)
                except OSError:
                    continue
                if os.path.basename(exe) == program:
                    found.append((name, int(pid)))
        return found


def holds(check, tries=3):
    """What was measured has to pass `check` in one of so many tries; it is not judged on a machine that others use as well."""
    for left in reversed(range(tries)):
        watch = calm.Watch()
        try:
            return check()
        except AssertionError as error:
            others = watch.others()
            if left == 0 and others <= BUSY:
                raise
            print("again: %s" % error if left > 0 else "not judged: others had %.0f %% of the processors: %s" % (100 * others, error))
    return None


def in_time(lose, limit_s, tries=5):
    """The longest of the times that `lose` returns is below the limit in one of so many tries; all else `lose` judges each time."""
    for left in reversed(range(tries)):
        longest = max(lose())
        if longest < limit_s:
            return
        print("%.2f s, more than %.2f s; %d tries are left" % (longest, limit_s, left))
    raise AssertionError("it took longer than %.2f s each time" % limit_s)


def calibrate(machines, engine, *more):
    """Links by (from, to), the limit, and the cluster file with them."""
    out = machines.path("measured.json")
    process = machines.start(engine, "calibrate", "--hosts", machines.cluster(), "-o", out, "--json", *more)
    said, err = process.communicate(timeout=300)
    if process.returncode != 0:
        raise RuntimeError("calibrate: exit %d\n%s%s" % (process.returncode, said, err))
    got = json.loads([line for line in said.splitlines() if line.startswith("{")][-1])
    links = {(machines.names.index(l["from"]), machines.names.index(l["to"])): l for l in got["links"]}
    for (source, target), link in links.items():
        print("%s: %d to %d: latency %.1f us, %.4g bytes/ns; above %d bytes %.1f us more, %.4g bytes/ns; flows %.2f %.2f" % (
            engine, source, target, link["latency_ns"] / 1e3, link["bandwidth_bytes_per_ns"], got["limit_bytes"],
            link["step_ns"] / 1e3, link["bandwidth_beyond"], link["flows2_permille"] / 1e3, link["flows4_permille"] / 1e3))
    return links, got["limit_bytes"], out


def transfer_ns(machines, cluster, size):
    """What a plan takes the transfer of so many bytes from the first machine to the second for: two tasks, one edge."""
    path = machines.path("edge.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "clotho.graph/1", "tasks": [{"work_ns": 1000, "executors": [0]}, {"work_ns": 1000, "executors": [1]}],
                   "edges": [{"from": 0, "to": 1, "bytes": size}]}, file)
    return json.loads(clotho("plan", path, "--platform", cluster, "--json"))["makespan_ns"] - 2000


def clotho(*arguments):
    return run(os.path.join(BIN, "clotho"), *arguments).stdout


def engines():
    """Those that are built and can be launched."""
    found = [name for name, program, launcher in
             (("openmpi", "clotho-mpi", "mpirun.openmpi"), ("mpich", "clotho-mpich", "mpiexec.hydra"))
             if name in os.environ.get("CLO_ENGINES", "openmpi mpich").split()
             and os.path.exists(os.path.join(BIN, program)) and shutil.which(launcher) is not None]
    if not found:
        skip("no MPI", "apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich, and build again")
    return found


def drawn():
    """One of them, which the commit draws, for what takes long; all where everything is asked for."""
    found = engines()
    return found if os.environ.get("CLO_FULL") else [found[int(os.environ.get("CLO_SAMPLE") or 0) % len(found)]]


PROGRAM = {"openmpi": "clotho-mpi", "mpich": "clotho-mpich"}


def main():
    needs_namespaces()
    engines()
    unittest.main(verbosity=2)
