"""Three services in three namespaces give the outputs of the run within one process, and their bytes cross the links."""
from net import *

net = Net(3)
services = [net.service(i, "s%d" % i, "--pace", "0.2", "--twice", "200") for i in range(3)]
groups = shared([[s.endpoint for s in services[:2]], [services[2].endpoint]])
path = call_graphs()
wanted = sorted({pick_graph(path, n) for n in ((4, 8, 12, 20, 30, 50) if FULL else (4, 12, 20))})

for number in wanted:
    for order in ("parallel", "sequence"):
        for extra in ([], ["--planner", "heft"]):
            words = ["--services", groups, "--graph", path, "--pick", str(number), "--order", order, "--bytes", "512",
                     "--effects", "30"] + extra
            before = [net.bytes_on(i) for i in range(3)]
            far, _, _ = net.run(*words)
            after = [net.bytes_on(i) for i in range(3)]
            near, _, _ = net.run(*words, "--local")
            crossed = sum(b[0] - a[0] for a, b in zip(before, after))
            if far["hash"] != near["hash"]:
                sys.exit("FAILED: graph %d, %s: the outputs differ" % (number, order))
            if crossed < far["payload_bytes"] or far["payload_bytes"] < 512 * far["instances"]:
                sys.exit("FAILED: %d bytes crossed the links, but %d are payload" % (crossed, far["payload_bytes"]))
            if near["calls"] != 0 or far["calls"] < far["instances"]:
                sys.exit("FAILED: %d calls for %d instances" % (far["calls"], far["instances"]))
    check(True, "graph %d (%d tasks, %d instances): same outputs, %d bytes of payload, %d on the links" % (
        number, far["tasks"], far["instances"], far["payload_bytes"], crossed))
check(all(net.bytes_on(i)[0] > 10000 for i in range(3)), "every host was used")
check(net.bytes_on(0)[1] == 0, "nothing went over loopback")
planned = ["--services", groups, "--graph", path, "--pick", str(wanted[-1]), "--bytes", "512", "--planner", "heft"]
free, _, _ = net.run(*planned, "--local")
dear, _, _ = net.run(*planned, "--link-us", "200000", "--link-mbit", "1")
check(free["plan_hash"] != dear["plan_hash"] and free["hash"] == dear["hash"],
      "links that cost something: another plan, the same outputs over the network")
other, _, _ = net.run("--services", groups, "--graph", path, "--pick", str(wanted[-1]), "--bytes", "256", "--local")
check(other["hash"] != near["hash"], "another run has other outputs")
net.stop()
