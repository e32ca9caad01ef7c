"""Nothing grows over many calls, and whoever waits takes no CPU time."""
from net import *

os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1:thread_local_quarantine_size_kb=16"  # what is freed, is free

ROUNDS = 50 if FULL else 6
CALLS_EACH = 20000
net = Net(2)
services = [net.service(i, "s%d" % i, "--slots", "256", "--queue", "20000") for i in range(2)]
for service in services:  # the log would grow
    service.stop()
program = lambda i: [os.path.join(BIN, "example-rpc-service"), "--listen", net.address(i) + ":0", "--slots", "256", "--queue",
                     "20000"]
services = [Service(net, i, "t%d" % i, program=program(i)) for i in range(2)]


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def state(pid):
    with open("/proc/%d/statm" % pid, encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 10, len(os.listdir("/proc/%d/fd" % pid))


words = ["--services", group("a", services), "--requests", str(CALLS_EACH), "--slots", "64", "--work-us", "0", "--no-hedge"]
net.run(*words)


def accepted(host):
    """Connections that came to the host so far."""
    text = subprocess.run(net.inside(host) + ["cat", "/proc/net/snmp"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("Tcp:")]
    return int(dict(zip(*rows))["PassiveOpens"])


opens = [accepted(i) for i in range(2)]
before = [state(s.process.pid) for s in services]
row, _, _ = net.run(*words, "--repeat", str(ROUNDS), "--idle-ms", "1500")
for service, (_, fds) in zip(services, before):  # it may see late that the coordinator has closed the connection
    until(lambda: state(service.process.pid)[1] <= fds, "a service has no more descriptors than before")
after = [state(s.process.pid) for s in services]
check(row["calls"] == ROUNDS * CALLS_EACH, "%d calls" % row["calls"])
opens = [accepted(i) - opens[i] for i in range(2)]
check(opens == [1, 1], "over one connection to each service")
check(row["fds_last"] == row["fds_first"], "no descriptor is left open")
for _ in range(5):  # a busy machine piles calls up once, and what they took stays; a leak grows each time
    grown = [row["rss_last_kb"] - row["rss_first_kb"]] + [kb_after - kb for (kb, _), (kb_after, _) in zip(before, after)]
    if max(grown) < 2048:
        break
    print("again: they grow by %s KiB" % grown)
    before = [state(s.process.pid) for s in services]
    row, _, _ = net.run(*words, "--repeat", str(ROUNDS), "--idle-ms", "1500")
    after = [state(s.process.pid) for s in services]
check(max(grown) < 2048, "the coordinator grows by %d KiB, the services by %d and %d" % tuple(grown))
for _ in range(20):  # a busy machine lets it have its last work done late
    if row["idle_cpu_us"] < 15000:
        break
    row, _, _ = net.run("--services", group("a", services), "--requests", "100", "--work-us", "0", "--no-hedge", "--idle-ms", "1500")
check(row["idle_cpu_us"] < 15000, "idle for 1.5 s: %d us of CPU time" % row["idle_cpu_us"])

# 500 calls under way: nobody has anything to do.
process = net.start("--services", group("a", services), "--requests", "500", "--slots", "250", "--work-us", "1000000000",
                    "--no-hedge")
pid = process.pid
watched = [pid] + [s.process.pid for s in services]


def settle():
    ticks = [cpu_ticks(p) for p in watched]
    time.sleep(0.5)
    return ticks == [cpu_ticks(p) for p in watched]


until(settle, "all calls are under way")
for _ in range(20):  # the kernel counts a whole tick for whoever has the CPU as one ends
    ticks = [cpu_ticks(p) for p in watched]
    time.sleep(3 if FULL else 1.5)
    used = [b - a for a, b in zip(ticks, (cpu_ticks(p) for p in watched))]
    if max(used) <= 1:
        break
check(max(used) <= 1, "500 calls under way: CPU ticks of coordinator and services %s" % used)
process.send_signal(signal.SIGINT)
process.communicate(timeout=LIMIT)
check(process.returncode == 130, "and they can be cancelled")
net.stop()
