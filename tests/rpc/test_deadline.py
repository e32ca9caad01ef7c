"""A deadline of 50 ms through four hops: every server sees less time left than the one before, none works past it, and a
cancel goes through all of them."""
from net import *

net = Net(4)


def chain(*last):
    """Four services, in the order of the route; the last has options of its own."""
    return [net.service(i, "s%d-%d" % (i, len(net.services)), "--pace", "1", "--sigma", "0.1", *(last if i == 3 else []))
            for i in range(4)]


def words(services, *more):
    return ["--services", "a=" + services[0].endpoint, "--route", ",".join(s.endpoint for s in services[1:]), "--no-hedge",
            "--work-us", "2000"] + list(more)


def by_request(service, event):
    return {e["instance"]: e for e in events(service.log) if e["event"] == event}


def judge(services):
    """What each server saw, from its own log."""
    seen = [by_request(s, "arrive") for s in services]
    for instance in seen[0]:
        left = [hop[instance]["left"] for hop in seen if instance in hop]
        if any(a <= b for a, b in zip(left, left[1:])) or left[0] > 50000:
            sys.exit("FAILED: request %d: time left does not shrink: %s" % (instance, left))
    for service in services:
        begun = by_request(service, "start")
        for word in ("done", "onward"):
            for instance, end in by_request(service, word).items():
                worked = end["time"] - begun[instance]["time"] if word == "onward" else end["value"]
                if end["left"] < -5000 or (word == "onward" and worked > begun[instance]["left"]):
                    sys.exit("FAILED: request %d: a server worked past the deadline: %s" % (instance, end))
    return seen


count = 400 if FULL else 60
good = chain()
row = None
process = net.start(*words(good, "--requests", str(count), "--rate", "40", "--deadline-ms", "50", "--json"))
process.communicate(timeout=LIMIT)
seen = judge(good)
check(len(seen[3]) > 0, "%d of %d requests reached the fourth server; time left shrinks at each" % (len(seen[3]), count))
check(sum(len(by_request(s, "onward")) for s in good[:3]) > 0, "and none worked past the deadline")

# The last is so slow that nothing can end in time. A run ends with its first failure: one request each.
slow = chain("--pace", "1000")
ended = 0
for run in range(20 if FULL else 5):
    _, error, _ = net.run(*words(slow, "--requests", "1", "--deadline-ms", "50", "--run", str(run)), want=1)
    ended += "deadline" in error
check(ended == (20 if FULL else 5), "a last hop that is too slow: " + error)
judge(slow)
ends = [e for e in events(slow[3].log) if e["event"] in ("expire", "cancel", "drop", "lost")]
check(not by_request(slow[3], "done"), "it finishes nothing")
reached = [e for e in events(slow[3].log) if e["event"] == "arrive"]
until(lambda: len([e for e in events(slow[3].log) if e["event"] in ("expire", "cancel", "drop", "lost")]) == len(reached),
      "and stops each of its %d requests" % len(reached), 10)

process = net.start(*words(slow, "--requests", "1", "--run", "777"))
until(lambda: any(e["event"] == "start" and e["run"] == 777 for e in events(slow[3].log)), "the last one works")
process.send_signal(signal.SIGINT)
process.send_signal(signal.SIGINT)
process.communicate(timeout=LIMIT)
for service in slow:
    until(lambda: any(e["event"] == "cancel" and e["run"] == 777 for e in events(service.log)), "the cancel arrives", 10)
check(process.returncode == 130, "a cancel without a deadline reaches all four")
net.stop()
