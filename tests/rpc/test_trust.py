"""What others may do to a service: a route goes on only to those that it was told of, and what nobody reads takes no more
than its room, however many connections there are."""
from frames import *
from net import *

os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1:thread_local_quarantine_size_kb=16"  # what is freed, is free
net = Net(2)
next_one = net.service(0, "next", "--sigma", "0")
other = net.service(1, "other", "--sigma", "0")
alone = net.service(0, "alone", "--sigma", "0")
told = net.service(0, "told", "--sigma", "0", "--allow", next_one.endpoint, "--allow", "http://10.77.0.2:*")
net.enter()


def ask_one(service, *hops):
    peer = Peer(service)
    peer.send(request(1, NEVER, 0, 0, hops=hops))
    status = peer.answer()[1]
    peer.socket.close()
    return status


check(ask_one(alone) == OK and ask_one(alone, next_one.endpoint) == INVALID, "without --allow no route goes on")
check(ask_one(told, next_one.endpoint) == OK, "with it, to the one that was named")
for hop in (other.endpoint, next_one.endpoint + "0", "127.0.0.1:22", "[::1]:22", "http://10.77.1.2:80/", "", "*"):
    check(ask_one(told, hop) == INVALID, "not to '%s'" % hop)
check(not [e for e in events(other.log) if e["event"] == "arrive"], "which has heard nothing")
check(ask_one(told, "http://10.77.0.2:1/") in (UNAVAILABLE, INVALID), "a pattern stands for many")
check(sum(e["event"] == "onward" for e in events(told.log)) == 2, "and they were called, nobody else")
check(ask_one(told, next_one.endpoint, other.endpoint) == INVALID, "the next one judges the one behind it")
_, error, _ = net.run("--services", "a=" + told.endpoint, "--route", other.endpoint, "--requests", "1", want=1)
check("--allow" in error and other.endpoint in error, error)

# Forty connections ask for 4 MB each, ten times over, and read nothing: 1.6 GB, of which 64 MB may wait, and twice that while
# many are closed at once: first as fast as the service goes, then all that it finds when it has slept.
SIZE = 4000000


def large(call):
    body = b"\x96" + number(0) + number(0) + number(SIZE) + number(0) + b"\x90" + binary(b"abc")
    return frame(call, NEVER, body)


def most_mb(service):
    """The most that was resident so far."""
    with open("/proc/%d/status" % service.process.pid, encoding="utf-8") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM:"))


def ask_all(service, sleeps):
    deaf = [Peer(service) for _ in range(40)]
    if sleeps:
        service.process.send_signal(signal.SIGSTOP)
    for call in range(10):
        for peer in deaf:
            peer.send(large(call))
    if sleeps:
        service.process.send_signal(signal.SIGCONT)
    return deaf


full = net.service(0, "full", "--sigma", "0", "--slots", "4", "--queue", "1000", "--unsent-mb", "64")
patient = Peer(full)
deaf = []
for sleeps in (False, True):
    deaf += ask_all(full, sleeps)
    for call in range(100, 150):  # meanwhile the others are served
        patient.send(request(call, NEVER, 0, 0))
        if patient.answer()[:2] != (call, OK):
            check(False, "one that reads is answered")
    check(most_mb(full) < 700, "it had %d MB at most" % most_mb(full))
for peer in deaf:
    peer.socket.close()
patient.send(request(8, NEVER, 0, 0))
check(patient.answer()[:2] == (8, OK), "and still is")
check(full.process.poll() is None, "the service lives")
net.stop()
