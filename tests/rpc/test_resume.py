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
    return ["--services", shared([[s.endpoint for s in services[:2]], [services[2].endpoint]]), "--graph", path, "--pick", str(number),
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
    while len(applied(run)) < effects and process.poll() is None:
        pass
    time.sleep(random_.random() * 0.004)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


clean, _, _ = net.run(*words(1, "clean"))
total = len(applied(1))
check(total > 5 and set(applied(1).values()) == {1}, "a run that is not killed has %d effects" % total)
partly = again = 0
runs = 0
while runs < POINTS or (2 * partly < POINTS and runs < 5 * POINTS):
    run, runs = 2 + runs, runs + 1
    durable = ["--durable"] if run % 2 else []
    if runs > POINTS:  # on a busy machine they end before they are killed: more work for each call
        durable += ["--work-us", str(20000 << min(6, runs - POINTS))]
    for point in sorted(random_.sample(range(total + 1), 1 + run % 2)):
        kill_at(run, "j%d" % run, point, *durable)
    if run % 3 == 0:  # the end of the log is torn off, as by a loss of power
        wal = os.path.join(folder, "j%d-wal" % run)
        if os.path.exists(wal):
            os.truncate(wal, random_.randrange(os.path.getsize(wal) + 1))
    row, _, _ = net.run(*words(run, "j%d" % run, *durable))
    repeated = {(e["task"], e["instance"]) for service in services for e in events(service.log)
                if e["event"] == "arrive" and e["run"] == run and e["attempt"] >= 2}
    if len(repeated) < row["again"]:
        sys.exit("FAILED: run %d: %d calls were under way, only %d count as repeated" % (run, row["again"], len(repeated)))
    if row["hash"] != clean["hash"]:
        sys.exit("FAILED: run %d goes on with another output" % run)
    if applied(run).keys() != applied(1).keys() or set(applied(run).values()) != {1}:
        sys.exit("FAILED: run %d: %s" % (run, applied(run)))
    partly += 0 < row["done_before"] < row["instances"]
    again += row["again"]
check(partly * 2 >= POINTS, "%d runs were killed; %d of them had a part done, %d calls were repeated with their keys" % (
    runs, partly, again))
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

# A call is killed three times: each kill is one attempt.
far = net.service(0, "far", "--pace", "1000")
again_words = ["--services", group("a", [far]), "--requests", "1", "--effects", "100", "--run", "900", "--journal",
               os.path.join(folder, "thrice")]
for number in (1, 2, 3):
    process = net.start(*again_words)
    until(lambda: [e["attempt"] for e in events(far.log) if e["event"] == "start"] == list(range(1, number + 1)),
          "attempt %d is under way" % number)
    process.kill()
    process.communicate()
check(True, "a call whose coordinator was killed three times is in its attempts 1, 2 and 3")

# A journal with a few bytes that are others: refused in one line, or the same output.
with open(os.path.join(folder, "j2"), "rb") as file:
    whole = file.read()
refused = 0
for n in range(100 if FULL else 12):
    with open(os.path.join(folder, "bad%d" % n), "wb") as file:
        data = bytearray(whole)
        for _ in range(random_.randrange(1, 20)):
            data[random_.randrange(len(data))] = random_.randrange(256)
        file.write(data[:random_.choice((len(data), random_.randrange(1, len(data))))])
    process = net.start(*words(2, "bad%d" % n), "--json")
    out, error = process.communicate(timeout=LIMIT)
    if process.returncode not in (0, 1, 2) or error.count("\n") not in (0, 1) or (process.returncode == 0) != (error == ""):
        sys.exit("FAILED: a damaged journal (SEED): %d: %s" % (process.returncode, error))
    if process.returncode == 0 and json.loads(out)["hash"] != clean["hash"]:
        sys.exit("FAILED: a damaged journal gives another output")
    refused += process.returncode != 0
check(refused > 0, "damaged journals: %d refused, the others give the same output; the last line is: %s" % (refused, error.strip()))

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
