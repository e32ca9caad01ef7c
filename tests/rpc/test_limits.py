"""More than there is room for: 100 000 requests that wait, ever new names, frames of any length, no descriptors left, a
host that is frozen, an effect that may have happened. Nothing crashes, nothing takes more than its time, and what is
refused is named in one line."""
import threading

from frames import *
from net import *

os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1:thread_local_quarantine_size_kb=16"  # what is freed, is free
net = Net(2)
S = 1000000
MANY = 100000
long_queue = net.service(0, "long", "--slots", "4", "--queue", str(MANY), "--sigma", "0")
short_queue = net.service(0, "short", "--slots", "1", "--queue", "2", "--sigma", "0")
relay = net.service(0, "relay", "--slots", "2", "--queue", "4", "--sigma", "0", "--allow", "*")
for service in (long_queue,):  # without a log: that would be half of the work
    service.stop()
quiet = [os.path.join(BIN, "example-rpc-service"), "--listen", net.address(0) + ":0", "--sigma", "0"]
long_queue = Service(net, 0, "long2", program=quiet + ["--slots", "4", "--queue", str(MANY)])


def cpu_s(service):
    with open("/proc/%d/stat" % service.process.pid, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_two_steps(service, work):
    """CPU seconds of the service for the first and the second of two equal pieces."""
    times = []
    for part in range(2):
        before = cpu_s(service)
        work(part)
        times.append(cpu_s(service) - before)
    return times


net.enter()

# 100 000 wait; more push out those with less slack, one for one; all are cancelled, in another order.
peer = Peer(long_queue)
half = MANY // 2
batch = lambda begin, end, left: b"".join(request(i, left + i * 10, 3600 * S, 0) for i in range(begin, end))
peer.send(batch(0, 4, 9000 * S) + batch(4, 4 + MANY, 3600 * S))


def overload(part):
    """Each has more slack than what waits, so one that waits goes."""
    first = MANY + 4 + part * half
    sender = threading.Thread(target=lambda: peer.send(batch(first, first + half, 4000 * S)), daemon=True)
    sender.start()
    seen = set()
    while len(seen) < half:
        call, status, pushback = peer.answer()
        if status != EXHAUSTED or not 0 < pushback <= 60000:
            sys.exit("FAILED: %s" % ((call, status, pushback),))
        seen.add(call)
    sender.join()
    sheds.append(seen)


sheds = []
times = in_two_steps(long_queue, overload)
gone = sheds[0] | sheds[1]
check(len(gone) == MANY and max(gone) < MANY + 5, "of %d requests the %d with the least slack were turned away: %.2f s "
      "of CPU time, then %.2f s" % (2 * MANY, MANY, *times))
check(times[1] < 3 * times[0] + 5, "the service does not slow down")
left = [i for i in range(4, 2 * MANY + 4) if i not in gone]
left = left[::2] + left[1::2][::-1]


def cancel_part(part):
    """The ping behind the cancels is answered when they are done."""
    peer.send(b"".join(cancel(i) for i in left[part * half:(part + 1) * half]))
    if part == 1:
        peer.send(b"".join(cancel(i) for i in range(4)))
    peer.send(frame(0, 0, kind=PING, run=0, attempt=0))
    check(peer.frame() == frame(0, 0, kind=PONG, run=0, attempt=0), "the ping behind the cancels is answered")


times = in_two_steps(long_queue, cancel_part)
check(max(times) < 10, "%d cancels take %.2f s and %.2f s of CPU time" % (MANY, *times))
peer.send(request(5, NEVER, 0))
check(peer.answer()[0] == 5, "and there is room again")

# Numbers as large as they get.
peer = Peer(short_queue)
huge = (1 << 62) - 1
peer.send(request(1, NEVER, huge, 0) + b"".join(request(n, (11000 - n * 1000) * S, huge, 0) for n in (2, 3, 4)))
call, status, pushback = peer.answer()
check((call, status) == (4, EXHAUSTED) and pushback == 60000, "work of %d us: come again in %d ms" % (huge, pushback))
peer.send(request(2, NEVER, 0))
check(peer.answer() is None, "two requests with one number: the connection is closed")
for length in (0, 1, 43, (16 << 20) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1):
    peer = Peer(short_queue)
    peer.send(struct.pack(">I", length) + bytes(1000))
    check(peer.answer() is None, "a frame of length %d is none" % length)
memory = lambda s: int(open("/proc/%d/statm" % s.process.pid, encoding="utf-8").read().split()[1]) * 4096
peers = [Peer(short_queue) for _ in range(50)]
for peer in peers:
    peer.send(struct.pack(">I", 16 << 20) + b"\1\0\0\1")
for _ in range(3):  # answered, as the service goes from connection to connection, when it has seen all of those
    asked = Peer(short_queue)
    asked.send(request(1, NEVER, 0))
    asked.answer()
check(memory(short_queue) < 128 << 20, "50 frames that say they are long take %d KiB" % (memory(short_queue) >> 10))
for peer in peers:
    peer.socket.close()
bombs = {"arrays in arrays": b"\x91" * 100000, "an array of arrays": b"\x9f" * 20000}
for name, kind in (("a long array", 0xdd), ("a long map", 0xdf), ("long bytes", 0xc6), ("a long text", 0xdb)):
    bombs[name] = bytes([kind]) + b"\xff" * 4
for name, body in bombs.items():
    peer = Peer(short_queue)
    peer.send(frame(1, NEVER, body))
    check(peer.answer() is None, name)
check(memory(short_queue) < 128 << 20, "the service has %d KiB" % (memory(short_queue) >> 10))

# A route through ever new names; a next service that never answers.
peer = Peer(relay)
mute = socket.create_server(("10.77.0.1", 0))
silent = "10.77.0.1:%d" % mute.getsockname()[1]
for i in range(40):
    peer.send(request(i, NEVER, 0, 0, hops=(silent,)))
answers = [peer.answer() for _ in range(34)]
check({a[1] for a in answers} == {EXHAUSTED}, "of 40 requests 6 wait for the next service, the others are turned away")
for i in range(40):
    peer.send(cancel(i))
statuses, half_kb = set(), 0
for base in range(0, 5000, 4):
    names = ["127.%d.%d.%d:1" % (1 + base % 7, base // 250, base % 250 + i) for i in range(4)]
    peer.send(b"".join(request(1000 + base + i, 20 * S, 0, 0, hops=(name,)) for i, name in enumerate(names)))
    statuses |= {peer.answer()[1] for _ in range(4)}
    if base == 2500:
        half_kb = memory(relay) >> 10
more_kb = (memory(relay) >> 10) - half_kb
check(statuses == {UNAVAILABLE} and more_kb < 2048, "2500 more names after 2500 take %d KiB more" % more_kb)
peer.send(request(9, NEVER, 0, 0, hops=(short_queue.endpoint,)))
check(peer.answer()[:2] == (9, OK), "and do not keep others out")
check(len(os.listdir("/proc/%d/fd" % relay.process.pid)) < 40, "and their connections do not stay")

# It ends while others wait for a next service, ours or a foreign one.
relay = net.service(0, "relay2", "--allow", "*")
peer = Peer(relay)
for call, hop in ((90000, silent), (90001, "http://%s/" % silent)):
    peer.send(request(call, NEVER, 0, 0, hops=(hop,)))
until(lambda: sum(e["event"] == "onward" for e in events(relay.log)) == 2, "both are on their way")
check(relay.stop() == 0, "a service that ends meanwhile ends well")

# No descriptors.
few = Service(net, 0, "few", program=["sh", "-c", "ulimit -n 24; exec " + " ".join(quiet)])
peers = []
for _ in range(100):
    try:
        peers.append(Peer(few))
        peers[-1].send(request(1, NEVER, 0))
    except OSError:
        pass
served = sum(p.answer() is not None for p in peers[:10])
check(served == 10 and few.process.poll() is None, "100 connections with 24 descriptors: the first are served")
for peer in peers:
    peer.socket.close()


def is_served():
    one = Peer(few)
    one.send(request(1, NEVER, 0))
    return one.answer() is not None


until(is_served, "others are, when these have gone")
words = ["--services", "a=%s" % few.endpoint, "--requests", "3", "--work-us", "10", "--json"]
codes = {}
for n in range(3, 40):
    done = subprocess.run(["sh", "-c", "ulimit -n %d; exec \"$@\"" % n, "sh", os.path.join(BIN, "example-rpc"), *words,
                           "--journal", os.path.join(folder, "few%d" % n)], capture_output=True, text=True, timeout=LIMIT)
    codes.setdefault(done.returncode, []).append(n)
    if done.returncode not in (0, 1, 2, 127) or (done.returncode in (1, 2) and done.stderr.count("\n") != 1):
        sys.exit("FAILED: with %d descriptors: %d: %s" % (n, done.returncode, done.stderr))
check(0 in codes and 2 in codes, "with few descriptors a run ends with one line, with enough it ends well: %s" % codes)
foreign = ",".join("http://10.77.0.1:%d/" % (2000 + i) for i in range(60))
done = subprocess.run(["sh", "-c", "ulimit -n 40; exec \"$@\"", "sh", os.path.join(BIN, "example-rpc"), "--services",
                       "h=" + foreign, "--requests", "200", "--slots", "8", "--backoff-ms", "1", "--json"],
                      capture_output=True, text=True, timeout=LIMIT)
check(done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr.strip())

# A service that is frozen (SIGSTOP): the attempt is given up and made again, with its key.
frozen = net.service(1, "frozen")
frozen.process.send_signal(signal.SIGSTOP)
process = net.start("--services", "a=" + frozen.endpoint, "--requests", "1", "--effects", "100", "--run", "5",
                    "--attempt-ms", "4000", "--backoff-ms", "1", "--events", os.path.join(folder, "frozen"), "--json")
until(lambda: os.path.exists(os.path.join(folder, "frozen")), "it begins")
until(lambda: any(e["event"] == "retry" for e in events(os.path.join(folder, "frozen"))), "it gives up and calls again")
frozen.process.send_signal(signal.SIGCONT)
out, error = process.communicate(timeout=LIMIT)
check(process.returncode == 0 and json.loads(out)["retries"] >= 1,
      "a frozen service: %s" % (error or "the call was repeated"))
until(lambda: len([e for e in events(frozen.log) if e["event"] == "arrive"]) >= 2, "both attempts have arrived")
with open(frozen.effects, encoding="utf-8") as file:
    check(file.read() == "5 0 0\n", "and had one effect")
frozen.process.send_signal(signal.SIGSTOP)
_, error, _ = net.run("--services", "a=" + frozen.endpoint, "--requests", "1", "--effects", "100", "--once",
                      "--attempt-ms", "2000", want=1)
check("may have had its effect" in error and "after 1 attempt " in error, error)
frozen.process.send_signal(signal.SIGCONT)
frozen.kill()
_, error, _ = net.run("--services", "a=" + frozen.endpoint, "--requests", "1", "--effects", "100", "--once",
                      "--backoff-ms", "1", want=1)
check("after 5 attempts" in error or "too often" in error, "what has not left is sent again: " + error)
net.stop()
