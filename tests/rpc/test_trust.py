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

# Forty connections ask for 4 MB each, ten times over, and read nothing: 1.6 GB, of which 64 MB may wait;
# what a busy machine has not yet closed, and what the C library keeps of what was freed, comes on top.
SIZE = 4000000


def large(call):
    body = b"\x96" + number(0) + number(0) + number(SIZE) + number(0) + b"\x90" + binary(b"abc")
    return frame(call, NEVER, body)


def resident_mb(service):
    with open("/proc/%d/statm" % service.process.pid, encoding="utf-8") as file:
        return int(file.read().split()[1]) * 4096 >> 20


full = net.service(0, "full", "--sigma", "0", "--slots", "4", "--queue", "1000", "--unsent-mb", "64")
patient = Peer(full)
deaf = [Peer(full) for _ in range(40)]
most = 0
for call in range(10):
    for peer in deaf:
        peer.send(large(call))
    most = max(most, resident_mb(full))
patient.send(request(7, NEVER, 0, 0))
check(patient.answer()[:2] == (7, OK), "one that reads is answered")
most = max(most, resident_mb(full))
check(most < 1200, "it had %d MB at most" % most)
for peer in deaf:
    peer.socket.close()
patient.send(request(8, NEVER, 0, 0))
check(patient.answer()[:2] == (8, OK), "and still is")
check(full.process.poll() is None, "the service lives")
net.stop()
