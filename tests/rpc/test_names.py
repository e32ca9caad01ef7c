"""A node of a call graph runs on the service that is called as it is. Answers may have any size for which there is room;
where there is none, both sizes are named."""
from net import *

net = Net(2)
first, second, third = [net.service(i % 2, "s%d" % i, "--sigma", "0") for i in range(3)]
graph = os.path.join(folder, "named.jsonl")
with open(graph, "w", encoding="utf-8") as out:
    json.dump({"service": "S", "nodes": [["USER", "relay"], ["shop", "normal"], ["shop.db", "database"]],
               "calls": [[0, 1, "http", 1], [1, 2, "db", 2]]}, out)
words = ["--graph", graph, "--work-us", "100", "--bytes", "32"]


def tasks_of(service):
    return {e["task"] for e in events(service.log) if e["event"] == "arrive"}


# Tasks are before and after of each node, in the order of the file; whatever the order of the services is.
for services in (["USER=" + first.endpoint, "shop=" + second.endpoint, "shop.db=" + third.endpoint],
                 ["*=" + first.endpoint, "shop*=" + third.endpoint, "shop=" + second.endpoint]):
    for s in (first, second, third):
        with open(s.log, "w", encoding="utf-8"):
            pass
    far, _, _ = net.run("--services", ";".join(services), *words)
    near, _, _ = net.run("--services", ";".join(services), *words, "--local")
    check(far["hash"] == near["hash"], "%s: same outputs as within one process" % [s.split("=")[0] for s in services])
    seen = [tasks_of(s) for s in (first, second, third)]
    if services[0].startswith("*"):  # the first pattern that fits; a whole name before any pattern
        check(seen == [{0, 1, 4, 5}, {2, 3}, set()], "patterns: %s" % seen)
    else:
        check(seen == [{0, 1}, {2, 3}, {4, 5}], "names: %s" % seen)
_, error, _ = net.run("--services", "USER=%s;shop=%s" % (first.endpoint, second.endpoint), *words, want=2)
check("'shop.db'" in error and "*=ENDPOINT" in error and "\n" not in error, error)
_, error, _ = net.run("--services", "a=" + first.endpoint, *words, want=2)
check("'USER'" in error, error)

# A foreign service answers with 96 bytes, whatever is asked for.
log = os.path.join(folder, "foreign.log")
foreign = Service(net, 1, "foreign", program=[sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                              "foreign.py"), net.address(1), log, "96", "0"])
sizes = ["--services", "USER=%s;*=%s" % (first.endpoint, foreign.endpoint), "--graph", graph, "--work-us", "100", "--run", "3"]
rows = [net.run(*sizes, "--bytes", str(room))[0] for room in (96, 97, 5000)]
check(all(r["status"] == "success" and r["failures"] == 0 for r in rows), "answers of 96 bytes fit into 96, 97 and 5000")
_, error, _ = net.run(*sizes, "--bytes", "95", want=1)
check("96 bytes" in error and "room for 95" in error, error)
_, error, _ = net.run("--services", "USER=%s;*=%s" % (first.endpoint, first.endpoint), "--graph", graph, "--requests", "0",
                      "--bytes", str(1 << 24), want=2)
check("--bytes" in error, error)
large, _, _ = net.run("--services", "*=" + first.endpoint, "--requests", "2", "--bytes", str((16 << 20) - 4096), "--no-hedge")
check(large["payload_bytes"] == 2 * ((16 << 20) - 4096), "answers of %d bytes" % ((16 << 20) - 4096))

# What a killed run has kept is taken as it is, short answers too.
journal = ["--journal", os.path.join(folder, "journal")]
row, _, _ = net.run(*sizes, "--bytes", "200", *journal)
again, _, _ = net.run(*sizes, "--bytes", "200", *journal)
check(again["done_before"] == again["instances"] and again["hash"] == row["hash"], "the journal keeps the sizes")
foreign.kill()
net.stop()
