"""A service is down: attempts back off, keep to their budget, and the failure is named within the deadline. With another
replica the run goes on."""
from net import *

net = Net(3)
alive = net.service(0, "alive")
dead = net.address(1) + ":7999"  # nobody listens: refused
log = os.path.join(folder, "events")

_, error, took = net.run("--services", "a=" + alive.endpoint + ";down=" + dead, "--graph", call_graphs(), "--deadline-ms",
                         "8000", "--backoff-ms", "100", "--events", log, want=1)
check("service down at " + dead in error and "unavailable" in error and "task " in error, error)
check(took < 8 + 8, "within the deadline")
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
    if wait > 100 * 2 ** (attempt - 2) + 1000:
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
check(0.6 < took < 0.7 + 8, "after %.1f s" % took)

# One of two replicas is down.
both = "a=%s,%s" % (alive.endpoint, dead)
row, _, _ = net.run("--services", both, "--requests", "300", "--slots", "8", "--work-us", "500")
check(row["answered"] == 300 and row["failures"] == 0 and row["calls"] > 300,
      "with another replica all is done: %d calls" % row["calls"])
check(row["calls"] <= 300 * 1.2 + 10, "the one that is down is left alone: %d calls" % row["calls"])

# The service dies in the middle and comes back at the same place.
victim = net.service(1, "victim", "--pace", "20")
process = net.start("--services", "a=" + victim.endpoint, "--requests", "1", "--backoff-ms", "2000", "--json")
until(lambda: any(e["event"] == "start" for e in events(victim.log)), "it works")
victim.kill()
again = Service(net, 1, "victim2", program=[os.path.join(BIN, "example-rpc-service"), "--listen", victim.endpoint])
out, error = process.communicate(timeout=LIMIT)
check(process.returncode == 0 and json.loads(out)["retries"] >= 1, "a service that dies and comes back: the call is repeated")
net.stop()
