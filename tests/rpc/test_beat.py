"""Heartbeats: a service that is frozen is given up long before its call could be; one that only takes long is not, and
neither is one whose caller was frozen itself."""
from frames import *
from net import *

net = Net(3)
LONG = ["--attempt-ms", "3600000", "--no-hedge", "--backoff-ms", "1"]
BEAT = ["--beat-ms", "1000"]  # given up after 6 s
log = os.path.join(folder, "events")


def named(service, event):
    return [e for e in events(service.log) if e["event"] == event]


def freeze(service, before):
    """In the middle of the call that comes after so many."""
    until(lambda: len(named(service, "start")) > before, "a call is under way")
    service.process.send_signal(signal.SIGSTOP)


first, second = (net.service(i, "s%d" % i, "--sigma", "0", "--slots", "1") for i in range(2))
process = net.start("--services", group("a", [first, second]), "--requests", "1", "--slots", "1", "--work-us", "10000000",
                    "--events", log, "--json", *LONG, *BEAT)
until(lambda: named(first, "start") or named(second, "start"), "it begins")
cold, warm = (first, second) if named(first, "start") else (second, first)
cold.process.send_signal(signal.SIGSTOP)
out, error = process.communicate(timeout=LIMIT)
check(process.returncode == 0 and json.loads(out)["calls"] == 2 and named(warm, "done"),
      "a frozen service: the call goes to another one: " + (error.strip() or "done"))
check([e["endpoint"] for e in events(log) if e["event"] == "error"] == [cold.endpoint], "which the events name")
cold.process.send_signal(signal.SIGCONT)
until(lambda: named(cold, "lost") or named(cold, "done"), "it goes on, and learns that nobody waits")

# An effect without a key may have happened: it is not sent again, and the line says so.
before = len(named(first, "start"))
process = net.start("--services", group("a", [first]), "--requests", "1", "--work-us", "30000000", "--effects", "100",
                    "--once", *LONG, *BEAT)
freeze(first, before)
_, error = process.communicate(timeout=LIMIT)
check(process.returncode == 1 and "no sign of life" in error and "may have had its effect" in error, error.strip())
first.process.send_signal(signal.SIGCONT)

# The next service of a route.
relay = net.service(2, "relay", "--allow", second.endpoint, *BEAT)
before = len(named(second, "start"))
process = net.start("--services", group("a", [relay]), "--route", second.endpoint, "--requests", "1", "--work-us", "10000000",
                    "--attempts", "1", *LONG, "--beat-ms", "0")
freeze(second, before)
_, error = process.communicate(timeout=LIMIT)
check(process.returncode == 1 and "no sign of life" in error, "behind a relay: " + error.strip())
second.process.send_signal(signal.SIGCONT)

# Long work, and a caller that is frozen meanwhile. On a machine that is very busy a service may be late with its sign.
for name, freezes in (("a call that takes long", False), ("a caller that was frozen", True)):
    for attempt in range(5):
        services = [net.service(0, "%s%d" % (name.replace(" ", "-"), attempt), "--sigma", "0")]
        process = net.start("--services", group("a", services), "--requests", "4", "--work-us", "6000000", "--json", *LONG,
                            "--beat-ms", "500")
        if freezes:
            until(lambda: len(named(services[0], "start")) == 4, "it begins")
            process.send_signal(signal.SIGSTOP)
            time.sleep(4)
            process.send_signal(signal.SIGCONT)
        out, error = process.communicate(timeout=LIMIT)
        services[0].stop()
        if process.returncode == 0 and json.loads(out)["calls"] == 4:
            break
    check(process.returncode == 0 and json.loads(out)["calls"] == 4, name + " keeps its connection")

# Beats are frames as others: any service answers them, on any connection, in their order.
net.enter()
peer = Peer(warm)
ping = HEAD.pack(44, 4, 0, 0, 0, 0, 0, 0, 0, 0)
peer.send(ping + request(1, NEVER, 0) + ping)
data = b""
while data.count(HEAD.pack(44, 5, 0, 0, 0, 0, 0, 0, 0, 0)) < 2 or b"\x94" not in data:
    data += peer.socket.recv(65536)
check(data[:HEAD.size] == HEAD.pack(44, 5, 0, 0, 0, 0, 0, 0, 0, 0), "two pings, two pongs, and the answer to a request")
net.stop()
