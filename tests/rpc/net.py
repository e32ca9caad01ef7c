"""Hosts as network namespaces, with services on them: what the tests of libclotho-rpc share.

The coordinator has a namespace of its own, and a veth pair to each host; hosts reach each other through it. So nothing
can go over loopback, and the counters of the veths see all that is sent."""
import atexit
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

BIN = sys.argv[1]
DATA = sys.argv[2]
FULL = "--full" in sys.argv
CALLS = os.path.join(DATA, "rpc_callgraph", "alibaba_call_graphs.jsonl")
LIMIT = 240  # seconds for any one program
LATE = 60  # seconds that a program may be late on the busiest machine


def check(holds, what):
    if not holds:
        sys.exit("FAILED: " + what)
    print("ok: " + what, flush=True)


def until(condition, what, seconds=LIMIT):
    """Waits for a state, however slow the machine is."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit("FAILED: not within %d s: %s" % (seconds, what))
        time.sleep(0.01)


def events(path):
    """Lines "WORD name=value ..." of a log as dictionaries; numbers as int. A last line that is not whole is left out."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            words = line.split()
            row = {"event": words[0]}
            for word in words[1:]:
                name, is_pair, value = word.partition("=")
                if is_pair:
                    row[name] = int(value) if value.lstrip("-").isdigit() else value
            rows.append(row)
    return rows


def call_graphs():
    """A file with call graphs: the real ones, or where they are not there two of the same kind."""
    if os.path.exists(CALLS):
        return CALLS
    path = os.path.join(folder, "calls.jsonl")
    graphs = []
    for n in range(2):
        nodes = [["USER", "relay"]] + [["MS_%d_%d" % (n, i), "normal"] for i in range(1, 12 + n)]
        calls = [[(i - 1) // 2, i, "rpc", 1 + i % 3] for i in range(1, len(nodes))] + [[1, 6, "mc", 2]]
        graphs.append(json.dumps({"service": "S_%d" % n, "type": "type0", "nodes": nodes, "calls": calls, "num": 1}))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(graphs) + "\n")
    return path


def pick_graph(path, least):
    """Number of the first graph with at least `least` nodes."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            if len(json.loads(line)["nodes"]) >= least:
                return number
    return 0


def follow():
    """Between fork and exec: the process is killed when this program ends, also by SIGKILL."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def remove_leftovers():
    """Namespaces of a test that was killed; names begin with its number."""
    for line in ip("netns", "list", may_fail=True).splitlines():
        name = line.split()[0] if line.split() else ""
        number = name[3:].partition("h")[0].rstrip("c")
        if name.startswith("clr") and number.isdigit() and not os.path.exists("/proc/" + number):
            ip("netns", "del", name, may_fail=True)


folder = tempfile.mkdtemp(prefix="clotho-rpc-")
atexit.register(lambda: subprocess.run(["rm", "-rf", folder], check=False))


def ip(*words, may_fail=False):
    done = subprocess.run(("ip",) + words, capture_output=True, text=True)
    if done.returncode != 0 and not may_fail:
        raise OSError("ip %s: %s" % (" ".join(words), done.stderr.strip()))
    return done.stdout


class Service:
    """In a session of its own: the kernel sends SIGHUP to all of a process group that has a stopped member when it loses its last
    tie to its session, and the group of this program is that of all tests."""

    def __init__(self, net, host, name, *options, program=None, before=()):
        self.log = os.path.join(folder, name + ".log")
        self.effects = os.path.join(folder, name + ".effects")
        self.host = host
        if program is None:
            program = [os.path.join(BIN, "example-rpc-service"), "--listen", net.address(host) + ":0", "--log", self.log,
                       "--effects", self.effects]
        self.process = subprocess.Popen(net.inside(host) + list(before) + program + list(options),
                                        stdout=subprocess.PIPE, text=True, preexec_fn=follow, start_new_session=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening "):
            sys.exit("FAILED: the service on host %d does not listen" % host)
        self.endpoint = line.split()[1]
        net.services.append(self)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Net:
    def __init__(self, hosts):
        self.prefix = "clr%d" % os.getpid()
        self.hosts = hosts
        self.services = []
        atexit.register(self.remove)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(1))
        remove_leftovers()
        try:
            self.build()
        except OSError as error:
            print("skipped: network namespaces are not allowed here (%s); mend: run the tests as root, with "
                  "CAP_SYS_ADMIN and iproute2" % error)
            self.remove()
            sys.stdout.flush()
            os._exit(77)

    def name(self, host):
        return "%sh%d" % (self.prefix, host) if host is not None else self.prefix + "c"

    def build(self):
        ip("netns", "add", self.name(None))
        ip("-n", self.name(None), "link", "set", "lo", "up")
        subprocess.run(self.inside(None) + ["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"], check=False)
        for host in range(self.hosts):
            here = self.name(host)
            ip("netns", "add", here)
            ip("link", "add", "v%d" % host, "netns", self.name(None), "type", "veth", "peer", "name", "eth0", "netns", here)
            ip("-n", self.name(None), "addr", "add", "10.77.%d.1/24" % host, "dev", "v%d" % host)
            ip("-n", self.name(None), "link", "set", "v%d" % host, "up")
            ip("-n", here, "addr", "add", self.address(host) + "/24", "dev", "eth0")
            ip("-n", here, "link", "set", "eth0", "up")
            ip("-n", here, "link", "set", "lo", "up")
            ip("-n", here, "route", "add", "default", "via", "10.77.%d.1" % host)

    def address(self, host):
        return "10.77.%d.2" % host

    def inside(self, host):
        return ["ip", "netns", "exec", self.name(host)]

    def bytes_on(self, host):
        """Bytes that went over the link to the host, both ways, and over the coordinator's loopback."""
        rows = json.loads(ip("-n", self.name(None), "-s", "-j", "link"))
        of = {row["ifname"]: row["stats64"]["rx"]["bytes"] + row["stats64"]["tx"]["bytes"] for row in rows}
        return of["v%d" % host], of["lo"]

    def enter(self):
        """From now on this program's own sockets are those of the coordinator's host."""
        with open("/run/netns/" + self.name(None), "rb") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000) != 0:
                sys.exit("FAILED: setns: " + os.strerror(ctypes.get_errno()))

    def service(self, host, name, *options):
        return Service(self, host, name, *options)

    def start(self, *options, **more):
        """The coordinator, as a process."""
        return subprocess.Popen(self.inside(None) + [os.path.join(BIN, "example-rpc")] + list(options), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=follow, start_new_session=True, **more)

    def run(self, *options, want=0):
        """The coordinator to its end: its result, its line on stderr, and how long it took."""
        begin = time.monotonic()
        process = self.start(*options, "--json")
        out, error = process.communicate(timeout=LIMIT)
        took = time.monotonic() - begin
        if process.returncode != want:
            sys.exit("FAILED: exit status %d, not %d: %s\n%s%s" % (process.returncode, want, " ".join(options), out, error))
        return (json.loads(out) if out else None), error.strip(), took

    def stop(self):
        """All services end by SIGTERM, and well."""
        for service in self.services:
            if service.process.poll() is None:
                code = service.stop()
                if code != 0:
                    sys.exit("FAILED: a service ended with %d" % code)

    def remove(self):
        for service in self.services:
            if service.process.poll() is None:
                service.process.kill()
                service.process.wait()
        for host in [None] + list(range(self.hosts)):
            ip("netns", "del", self.name(host), may_fail=True)


def shared(lists):
    """Services for the nodes of a call graph, whose names end with digits, mostly: each list of endpoints gets its part."""
    digits = ["".join(str(d) for d in range(10) if d % len(lists) == i) for i in range(len(lists) - 1)]
    return ";".join("%s=%s" % (name, ",".join(endpoints))
                    for name, endpoints in zip(["*[%s]" % d for d in digits] + ["*"], lists))


def group(name, services):
    return name + "=" + ",".join(s.endpoint for s in services)


def seeded():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED=%d" % seed)
    return random.Random(seed)
