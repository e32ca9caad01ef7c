"""The coordinator is killed (SIGKILL) at random points: the run that goes on has the same output, and each effect was
applied once."""
from net import *

random_ = seeded()
POINTS = 50 if FULL else 7
net = Net(3)
services = [net.service(i, "s%d" % i, "--seed", str(i + 1), "--pace", "0.5") for i in range(3)]
path = call_graphs()
number = pick_graph(path, 14)


def words(run, journal, *more):
    return ["--services", "a=%s,%s;b=%s" % tuple(s.endpoint for s in services), "--graph", path, "--pick", str(number),
            "--effects", "60", "--run", str(run), "--journal", os.path.join(folder, journal)] + list(more)


def applied(run):
    """Effects of the run, as often as they were applied."""
    counts = {}
    for service in services:
        with open(service.effects, encoding="utf-8") as file:
            for line in file.read().split("\n")[:-1]:
                whose, task, instance = line.split()
                if int(whose) == run:
                    counts[task, instance] = counts.get((task, instance), 0) + 1
    return counts


def kill_at(run, journal, effects, *more):
    """Kills it as soon as so many effects are there, a moment later. Returns whether it had not ended."""
    process = net.start(*words(run, journal, *more))
    deadline = time.monotonic() + 60
    while len(applied(run)) < effects and process.poll() is None and time.monotonic() < deadline:
        pass
    time.sleep(random_.random() * 0.004)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


clean, _, _ = net.run(*words(1, "clean"))
total = len(applied(1))
check(total > 5 and set(applied(1).values()) == {1}, "a run that is not killed has %d effects" % total)
partly = again = 0
for run in range(2, 2 + POINTS):
    durable = ["--durable"] if run % 2 else []
    for point in sorted(random_.sample(range(total + 1), 1 + run % 2)):
        kill_at(run, "j%d" % run, point, *durable)
    if run % 3 == 0:  # the end of the log is torn off, as by a loss of power
        wal = os.path.join(folder, "j%d-wal" % run)
        if os.path.exists(wal):
            os.truncate(wal, random_.randrange(os.path.getsize(wal) + 1))
    row, _, _ = net.run(*words(run, "j%d" % run, *durable))
    if row["hash"] != clean["hash"]:
        sys.exit("FAILED: run %d goes on with another output" % run)
    if applied(run).keys() != applied(1).keys() or set(applied(run).values()) != {1}:
        sys.exit("FAILED: run %d: %s" % (run, applied(run)))
    partly += 0 < row["done_before"] < row["instances"]
    again += row["again"]
check(partly * 2 >= POINTS, "%d runs were killed; %d of them had a part done, %d calls were repeated with their keys" % (
    POINTS, partly, again))
check(True, "each has the same output, and each of its %d effects once" % total)

_, error, _ = net.run(*words(1, "clean", "--bytes", "32"), want=2)
check("another graph" in error and error.count("\n") == 0, error)
_, error, _ = net.run(*words(99, "clean"), want=2)
check("another run" in error, error)
with open(os.path.join(folder, "clean"), "r+b") as file:
    file.seek(100)
    file.write(os.urandom(3000))
_, error, _ = net.run(*words(1, "clean"), want=2)
check("clean" in error and error.count("\n") == 0, error)

slow = net.service(0, "slow", "--pace", "1000")
process = net.start("--services", group("a", [slow]), "--requests", "3", "--effects", "100", "--once", "--journal",
                    os.path.join(folder, "once"))
until(lambda: any(e["event"] == "start" for e in events(slow.log)), "a call is under way")
process.kill()
process.communicate()
_, error, _ = net.run("--services", group("a", [slow]), "--requests", "3", "--effects", "100", "--once", "--journal",
                      os.path.join(folder, "once"), want=2)
check("was under way" in error and "request" in error, error)
net.stop()
