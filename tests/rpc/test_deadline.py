"""A deadline of 50 ms through four hops: every server sees less time left than the one before, none works past it, and a
cancel goes through all of them."""
from net import *

net = Net(4)


# Every other host has been up for eleven days longer: their clocks have nothing in common.
shift = ["unshare", "--time", "--monotonic", "1000000"]
if subprocess.run(shift + ["true"], capture_output=True, check=False).returncode != 0:
    shift = []


def chain(*last):
    """Four services, in the order of the route; the last has options of its own."""
    return [Service(net, i, "s%d-%d" % (i, len(net.services)), "--pace", "1", "--sigma", "0.1", "--allow", "10.77.?.2:*",
                    *(last if i == 3 else []), before=shift if i % 2 else []) for i in range(4)]


def words(services, *more):
    return ["--services", "a=" + services[0].endpoint, "--route", ",".join(s.endpoint for s in services[1:]), "--no-hedge",
            "--work-us", "2000"] + list(more)


def has(service, event):
    return any(e["event"] == event for e in events(service.log))


def first_arrivals(service):
    """Of each request of each run: on a busy machine not every run gets to the last server, and whoever repeats a request
    comes later."""
    seen = {}
    for event in events(service.log):
        if event["event"] == "arrive":
            seen.setdefault((event["run"], event["instance"]), event)
    return seen


def judge(services):
    """What each server saw, from its own log."""
    seen = [first_arrivals(s) for s in services]
    for request in seen[0]:
        left = [hop[request]["left"] for hop in seen if request in hop]
        if any(a <= b for a, b in zip(left, left[1:])) or left[0] > 50000:
            sys.exit("FAILED: run %d, request %d: time left does not shrink: %s" % (*request, left))
    for service in services:
        for end in events(service.log):
            if end["event"] == "worked" and end["value"] <= 0:  # the time that was left when it was done with its work
                sys.exit("FAILED: a server worked past the deadline: %s" % end)
    return seen


count = 400 if FULL else 60
for attempt in range(40):  # on a machine that is busy few get through in time
    good = chain()
    process = net.start(*words(good, "--requests", str(count), "--rate", "40", "--deadline-ms", "50", "--keep-going"))
    process.communicate(timeout=LIMIT)
    seen = judge(good)
    if seen[3] and all(has(s, "worked") for s in good):
        break
clocks = [events(s.log)[0]["time"] for s in good]
print("clocks of the hosts are apart by %d s" % ((max(clocks) - min(clocks)) / 1e6))
check(len(seen[3]) > 0, "%d of %d requests reached the fourth server; time left shrinks at each" % (len(seen[3]), count))
check(all(has(s, "worked") for s in good), "and none worked past the deadline")

# The last is so slow that nothing can end in time. A run ends with its first failure: one request each.
slow = chain("--pace", "1000")
ended = 0
for run in range(20 if FULL else 5):
    _, error, _ = net.run(*words(slow, "--requests", "1", "--deadline-ms", "50", "--run", str(run)), want=1)
    ended += "deadline" in error
check(ended == (20 if FULL else 5), "a last hop that is too slow: " + error)
judge(slow)
check(not has(slow[3], "done"), "it finishes nothing")


def all_stopped():
    seen = [e["event"] for e in events(slow[3].log)]
    return sum(e in ("expire", "cancel", "drop", "lost") for e in seen) == seen.count("arrive")


until(all_stopped, "and stops each of its requests")

process = net.start(*words(slow, "--requests", "1", "--run", "777"))
until(lambda: any(e["event"] == "start" and e["run"] == 777 for e in events(slow[3].log)), "the last one works")
process.send_signal(signal.SIGINT)
process.send_signal(signal.SIGINT)
_, error = process.communicate(timeout=LIMIT)
for service in slow:
    until(lambda: any(e["event"] == "cancel" and e["run"] == 777 for e in events(service.log)), "the cancel arrives")
check(process.returncode == 130, "a cancel without a deadline reaches all four: exit status %d, %s" % (process.returncode, error.strip()))
net.stop()
