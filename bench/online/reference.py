#!/usr/bin/env python3
"""Policies on the arrivals of data/tpch/reference_jct.json: mean completion times in seconds, of all batches and all streams,
in Decima's environment as its simulator has it. The table of "Parametric" in bench/online/README.md.

usage: reference.py CLOTHO DATA POLICY..."""
import json
import os
import subprocess
import sys
import tempfile


def workload(run, data, path):
    with open(path, "w", encoding="utf-8") as out:
        print(json.dumps({"format": "clotho.workload/1", "name": "reference", "jobs": len(run["arrivals"])}), file=out)
        for name, arrival_ms in run["arrivals"]:
            file = os.path.join(data, "tpch", "tpch_%s.jsonl" % name.split("-")[1])
            print(json.dumps({"file": file, "instance": name, "arrival_ns": int(arrival_ms * 1e6)}), file=out)


def mean_s(clotho, paths, policy):
    total = 0
    for path in paths:
        out = subprocess.run([clotho, "simulate", path, "--platform", "uniform:50", "--environment", "decima:faithful",
                              "--policy", policy, "--json"], check=True, stdout=subprocess.PIPE)
        total += json.loads(out.stdout)["avg_jct_s"]
    return total / len(paths)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    clotho, data = sys.argv[1], os.path.abspath(sys.argv[2])
    with open(os.path.join(data, "tpch", "reference_jct.json"), encoding="utf-8") as file:
        reference = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("batch", "stream"):
            runs = {run["seed"]: run for run in reference[kind]["runs"] if "arrivals" in run}
            paths = [os.path.join(folder, "%s%d.jsonl" % (kind, seed)) for seed in runs]
            for run, path in zip(runs.values(), paths):
                workload(run, data, path)
            for policy in sys.argv[3:]:
                print("%-6s %-22s %6.1f" % (kind, policy, mean_s(clotho, paths, policy)), flush=True)


if __name__ == "__main__":
    main()
