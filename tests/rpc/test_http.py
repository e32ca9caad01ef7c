"""A foreign HTTP server is a service as any other: same outputs, deadlines and keys in headers, retries after 503,
connections that are kept."""
from net import *

net = Net(2)
log = os.path.join(folder, "foreign.log")
ours = net.service(0, "ours")
foreign = Service(net, 1, "foreign", program=[sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                              "foreign.py"), net.address(1), log, "96", "29"])
path = call_graphs()
words = ["--services", shared([[ours.endpoint], [foreign.endpoint]]), "--graph", path, "--pick",
         str(pick_graph(path, 20 if FULL else 12)), "--bytes", "96", "--deadline-ms", "60000", "--no-hedge",
         "--run", "4"]
far, _, _ = net.run(*words)
near, _, _ = net.run(*words, "--local")
check(far["hash"] == near["hash"], "same outputs as within one process")
rows = events(log)
check(len(rows) > 10, "%d requests over HTTP" % len(rows))
check(all(0 < r["left"] <= 60000000 for r in rows), "each with the time that is left")
refused = {r["key"] for r in rows if r["event"] == "refuse"}
served = [r["key"] for r in rows if r["event"] == "answer"]
check(refused and len(served) == len(set(served)) and refused <= set(served), "%d were turned away at first, and came again with their key"
      % len(refused))
check(len({r["port"] for r in rows}) < len(rows), "connections are used again: %d for %d requests" % (
    len({r["port"] for r in rows}), len(rows)))
row, _, _ = net.run("--services", "foreign=" + foreign.endpoint, "--requests", "300" if not FULL else "5000", "--bytes", "96",
                    "--slots", "4", "--no-hedge")
ports = {r["port"] for r in events(log)[len(rows):]}
check(row["failures"] == 0 and len(ports) <= 8, "%d calls over %d connections" % (row["calls"], len(ports)))
foreign.kill()
_, error, _ = net.run("--services", "foreign=" + foreign.endpoint, "--requests", "1", "--bytes", "96", want=1)
check("unavailable" in error and foreign.endpoint in error, error)
ours.stop()
