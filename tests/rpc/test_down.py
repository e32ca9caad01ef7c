"""A service is down: attempts back off, keep to their budget, and the failure is named within the deadline. With another
replica the run goes on."""
import socket
import struct
import threading

from net import *

net = Net(3)
alive = net.service(0, "alive")
dead = net.address(1) + ":7999"  # nobody listens: refused
log = os.path.join(folder, "events")

_, error, took = net.run("--services", shared([[alive.endpoint], [dead]]), "--graph", call_graphs(), "--deadline-ms",
                         "8000", "--backoff-ms", "100", "--events", log, want=1)
check("service * at " + dead in error and "unavailable" in error and "task " in error, error)
check(took < 8 + LATE, "within the deadline")
waits = {}
for e in events(log):
    if e["endpoint"] != dead:
        continue
    if e["event"] == "error":
        waits[e["task"], e["instance"], e["attempt"] + 1] = e["time"]
    elif e["event"] == "retry":
        waits[e["task"], e["instance"], e["attempt"]] -= e["time"]
    if e["event"] in ("call", "retry") and e["attempt"] > 5:
        sys.exit("FAILED: attempt %d" % e["attempt"])
waits = {key: -wait / 1e3 for key, wait in waits.items() if wait < 0}
for (task, instance, attempt), wait in sorted(waits.items()):
    if wait > 100 * 2 ** (attempt - 2) + 1000 * LATE:
        sys.exit("FAILED: %.0f ms before attempt %d" % (wait, attempt))
check(waits and max(waits.values()) > 5, "backoffs of %s ms" % ", ".join("%.0f" % w for w in waits.values()))

# Many requests to it: a few retries for all of them.
process = net.start("--services", "down=" + dead, "--requests", "200", "--slots", "200", "--backoff-ms", "1", "--events", log,
                    "--json")
out, error = process.communicate(timeout=LIMIT)
row = json.loads(out)
check(process.returncode == 1 and row["retries"] <= 0.1 * row["requests"] + 10, "%d retries for %d requests" % (
    row["retries"], row["requests"]))

# A host that swallows everything: no refusal, only the deadline.
ip("-n", net.name(2), "link", "set", "eth0", "down")
_, error, took = net.run("--services", "gone=" + net.address(2) + ":7999", "--requests", "1", "--deadline-ms", "700", want=1)
check("gone" in error and "deadline" in error, error)
check(0.6 < took < 0.7 + LATE, "after %.1f s" % took)

# One of two replicas is down.
both = "a=%s,%s" % (alive.endpoint, dead)
row, _, _ = net.run("--services", both, "--requests", "300", "--slots", "8", "--work-us", "500")
check(row["answered"] == 300 and row["failures"] == 0 and row["calls"] > 300,
      "with another replica all is done: %d calls" % row["calls"])
check(row["calls"] <= 300 * 1.2 + 10, "the one that is down is left alone: %d calls" % row["calls"])

# Four layers, of which the last is down: the first caller alone repeats, so no layer sees more than its attempts.
layers = [net.service(i % 2, "layer%d" % i, "--allow", "*") for i in range(3)]
route = ",".join([s.endpoint for s in layers[1:]] + [dead])
_, error, _ = net.run("--services", "a=" + layers[0].endpoint, "--route", route, "--requests", "1", "--backoff-ms", "1",
                      want=1)
seen = [sum(e["event"] == "arrive" for e in events(s.log)) for s in layers]
check(max(seen) <= 5 and seen[2] > 1, "four layers, the last is down: they see %s requests: %s" % (seen, error))

# The service dies in the middle and comes back at the same place.
victim = net.service(1, "victim", "--pace", "20")
process = net.start("--services", "a=" + victim.endpoint, "--requests", "1", "--backoff-ms", "2000", "--json")
until(lambda: any(e["event"] == "start" for e in events(victim.log)), "it works")
victim.kill()
again = Service(net, 1, "victim2", program=[os.path.join(BIN, "example-rpc-service"), "--listen", victim.endpoint])
out, error = process.communicate(timeout=LIMIT)
check(process.returncode == 0 and json.loads(out)["retries"] >= 1, "a service that dies and comes back: the call is repeated")

# A host that vanishes in the middle of a call: nothing says so, and there is no deadline.
if FULL:
    lost = net.service(1, "lost", "--pace", "100000")
    process = net.start("--services", "a=" + lost.endpoint, "--requests", "1", "--attempts", "1")
    until(lambda: any(e["event"] == "start" for e in events(lost.log)), "it works")
    ip("-n", net.name(1), "link", "set", "eth0", "down")
    begin = time.monotonic()
    _, error = process.communicate(timeout=LIMIT)
    took = time.monotonic() - begin
    check(process.returncode == 1 and "unavailable" in error and took < 45, "a host that vanishes: after %.0f s: %s" % (
        took, error.strip()))
    lost.kill()

# Services that do not keep to the protocol: one line, within the deadline.
net.enter()


def fake(behave):
    """A server in this process; `behave` gets each connection with its first bytes."""
    listener = socket.create_server(("10.77.0.1", 0))

    def serve():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=lambda c=connection: behave(c, c.recv(65536)), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return "10.77.0.1:%d" % listener.getsockname()[1]


def answer(connection, request, size, times=1, body=None):
    head = bytearray(request[:48])
    body = body or bytes([0x94, 0, 0, 0xa0, 0xc4, size]) + bytes(size)
    head[:5] = struct.pack(">IB", 44 + len(body), 2)
    connection.sendall((bytes(head) + body) * times)
    connection.recv(1)


misfits = {
    "garbage": (lambda c, r: (c.sendall(b"\xfe" * 100), c.recv(1)), 1),
    "silence": (lambda c, r: c.recv(1), 1),
    "hanging up": (lambda c, r: c.close(), 1),
    "half an answer": (lambda c, r: (c.sendall(b"\0\0\0\x40\2\0"), c.recv(1)), 1),
    "the answer to another call": (lambda c, r: answer(c, r[:8] + b"\xff" * 8 + r[16:], 64), 1),
    "an answer for which there is no room": (lambda c, r: answer(c, r, 65), 1),
    "a shorter answer": (lambda c, r: answer(c, r, 63), 0),
    "an empty answer": (lambda c, r: answer(c, r, 0, 1, b"\x94\0\0\xa0\xc4\0"), 0),
    "a message of several lines": (lambda c, r: answer(c, r, 0, 1, b"\x94\1\0\xa5a\nb\rc\xc4\0"), 1),
    "never again": (lambda c, r: answer(c, r, 0, 1, b"\x94\3\xff\xa0\xc4\0"), 1),
    "come again in 2^63 - 1 ms": (lambda c, r: answer(c, r, 0, 1, b"\x94\3\xcf\x7f" + b"\xff" * 7 + b"\xa0\xc4\0"), 1),
    "come again in 2^64 - 1 ms": (lambda c, r: answer(c, r, 0, 1, b"\x94\3\xcf" + b"\xff" * 8 + b"\xa0\xc4\0"), 1),
    "the right answer, three times": (lambda c, r: answer(c, r, 64, 3), 0),
}
ANSWERED = ("never again", "an answer for which there is no room")  # with an error of their own
for name, (behave, code) in misfits.items():
    deadline_s = 1.5 if code == 1 and name not in ANSWERED else LATE  # which must come, or must not
    _, error, took = net.run("--services", "a=" + fake(behave), "--requests", "1", "--deadline-ms", str(int(1000 * deadline_s)),
                             "--backoff-ms", "1", want=code)
    if name == "never again":
        check("wants no other" in error and "after 1 attempt " in error, "a service that wants no other attempt gets none")
    if name == "an answer for which there is no room":
        check("65 bytes" in error and "room for 64" in error, "both sizes are named")
    check(took < deadline_s + LATE and error.count("\n") == 0 and (error != "") == (code == 1), "%s: %s" % (name, error or "taken once"))
net.stop()
