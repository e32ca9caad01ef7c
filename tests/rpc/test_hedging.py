"""One host stalls 1 % of its requests: hedging cuts the p99.9 by 3 or more, with at most 5 % more calls. Where it
stalls 6 %, the p99 too.

Requests arrive by a Poisson process (open loop), and latency counts from the arrival. The same seed has the same stalls
in both runs."""
from net import *

N, RATE, STALL_MS = (10000, 500, 5000) if FULL else (2000, 400, 5000)  # stalls are longer than hiccups of a busy machine
net = Net(3)


def measure(stalls, n, *options):
    services = [net.service(i, "s%d-%d" % (i, len(net.services)), "--seed", str(i + 1), "--slots", "2000", "--queue",
                            "4000", *(["--stall", str(stalls), "--stall-ms", str(STALL_MS)] if i == 0 else []))
                for i in range(3)]
    row, _, _ = net.run("--services", group("a", services), "--requests", str(n), "--rate", str(RATE),
                        "--work-us", "8000", "--seed", "7", "--run", "7", *options)
    stalled = sum(e["event"] == "start" and e["value"] == STALL_MS * 1000 for e in events(services[0].log))
    cancels = sum(e["event"] == "cancel" for s in services for e in events(s.log))
    for service in services:
        service.stop()
    print("%-10s p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms; %d calls for %d requests, %d hedges (%d won), %d stalls" % (
        "hedged" if not options else "unhedged", row["p50_us"] / 1e3, row["p99_us"] / 1e3, row["p999_us"] / 1e3,
        row["calls"], row["requests"], row["hedges"], row["hedges_won"], stalled), flush=True)
    return row, stalled, cancels


# The machine's own hiccups only lengthen the tail: one of eight runs must be good.
for attempt in range(8):
    plain, stalls, _ = measure(10 if FULL else 20, N, "--no-hedge")
    hedged, hedged_stalls, cancels = measure(10 if FULL else 20, N)
    if plain["p999_us"] >= 3 * hedged["p999_us"] and cancels >= 0.5 * hedged["hedges_won"]:
        break
check(plain["answered"] == hedged["answered"] == N, "every request was answered")
check(plain["hash"] == hedged["hash"], "with the same outputs")
check(stalls * 1000 > N and plain["p999_us"] >= STALL_MS * 1000, "without hedging the tail is there: %d stalls" % stalls)
check(hedged_stalls > 0 and hedged["hedges_won"] > 0, "the hedged run met stalls too, and hedges won")
check(plain["p999_us"] >= 3 * hedged["p999_us"], "the p99.9 is cut by %.1f" % (plain["p999_us"] / hedged["p999_us"]))
check(plain["calls"] == N and hedged["calls"] <= 1.05 * N, "%.2f %% more calls" % (100 * hedged["calls"] / N - 100))
check(hedged["cancelled"] == hedged["hedges"], "each loser is cancelled")
check(cancels >= 0.5 * hedged["hedges_won"], "and the services see it: %d cancels" % cancels)

for attempt in range(8):
    plain, _, _ = measure(60, N // 2, "--no-hedge")
    hedged, _, _ = measure(60, N // 2)
    if plain["p99_us"] >= 3 * hedged["p99_us"]:
        break
check(plain["p99_us"] >= 3 * hedged["p99_us"],
      "more stalls: the p99 is cut by %.1f" % (plain["p99_us"] / hedged["p99_us"]))
check(hedged["calls"] <= 1.05 * N // 2 + 10, "%.2f %% more calls" % (100 * hedged["calls"] / (N // 2) - 100))

# Never two attempts at one replica, and no second attempt of a call with an effect.
hedged_once = 0
for effects in (0,) * 8 + (100,):  # on a machine that is very busy hedges may be held back
    if effects == 0 and hedged_once > 0:
        continue
    log = os.path.join(folder, "events%d" % effects)
    services = [net.service(i, "e%d-%d" % (effects, i), "--slots", "500", "--queue", "500", "--stall", "60", "--stall-ms",
                            "2000") for i in range(3)]
    row, _, _ = net.run("--services", group("a", services), "--requests", "600", "--rate", "400", "--work-us", "8000",
                        "--events", log, "--effects", str(effects))
    for service in services:
        service.stop()
    first = {e["instance"]: e["endpoint"] for e in events(log) if e["event"] == "call"}
    second = {e["instance"]: e["endpoint"] for e in events(log) if e["event"] == "hedge" and e["attempt"] == 2}
    check(not any(first[i] == second[i] for i in second), "%d hedges, each at another replica" % len(second))
    hedged_once = max(hedged_once, row["hedges"])
    print("calls with effects, of a hundred: %d; hedges: %d" % (effects, row["hedges"]))
check(hedged_once > 0 and row["hedges"] == 0, "calls with an effect have none")
net.stop()
