#!/usr/bin/env python3
"""Drives `clotho serve` with a simulated cluster: jobs of a workload arrive at once, tasks take random times.

    clotho generate stream --jobs 50 --arrivals batch -o stream.jsonl
    clotho serve --platform uniform:8 --policy fair --socket /tmp/clotho.sock &
    python3 examples/serve/drive.py /tmp/clotho.sock stream.jsonl

Prints the mean completion time of the jobs. A cluster that is not simulated differs in one place: where this program
draws when a task ends, it would start that task on the executor, and send "finish" when it hears of its end."""
import argparse
import heapq
import json
import random
import socket


class Service:
    """The socket of `clotho serve`: an event goes in, the choices and the ends that follow from it come out."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.state = json.loads(self.lines.readline()).get("state")  # what runs, if another driver was here before
        if self.state is None or self.state["live"]:
            raise SystemExit("drive.py: the service is of somebody else, or busy")

    def tell(self, **event):
        self.socket.sendall(json.dumps(event).encode() + b"\n")
        choices, ends = [], []
        for line in self.lines:
            said = json.loads(line)
            if "choice" in said:
                choices.append(said["choice"])
            elif "ended" in said:
                ends.append(said["ended"])
            elif "error" in said:
                raise SystemExit("drive.py: %s" % said["error"])
            else:
                return choices, ends, said.get("wake_ns")  # "ok": that was all
        raise SystemExit("drive.py: the service has hung up")


def read_jobs(path):
    """The jobs of a clotho.workload/1 whose graphs stand in the file."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()][1:]
    kept = ("graph", "name", "weight", "deadline_ns", "band", "group", "limit")
    return [{key: row[key] for key in kept if key in row} for row in rows]


def work_of(jobs, choice):
    graph = jobs[choice["job"]]["graph"]
    if not isinstance(graph, dict):  # the number of a job that has it
        graph = jobs[graph]["graph"]
    return graph["tasks"][choice["stage"]].get("work_ns", 1000)


def drive(service, jobs, rng):
    """Events by time: a job that arrives, or a choice that ends. Returns the completion times."""
    first = service.state["time_ns"]
    before = service.state["jobs"]  # numbers go on from those of drivers before us
    events = [(first, k, dict(job, event="arrive")) for k, job in enumerate(jobs)]
    completions, wake, count = [], None, len(jobs)
    while events:
        now, _, event = heapq.heappop(events)
        if event["event"] == "heartbeat" and event["wake_ns"] != wake:
            continue  # the policy has changed its mind
        if event["event"] == "arrive" and isinstance(event["graph"], int):
            event["graph"] += before
        event.pop("wake_ns", None)
        choices, ends, asked = service.tell(**event, time_ns=now)
        for choice in choices:
            took = max(1, int(work_of(jobs, dict(choice, job=choice["job"] - before)) * rng.lognormvariate(0, 0.3)))
            report = {key: choice[key] for key in ("job", "stage", "instance", "executor")}
            heapq.heappush(events, (max(now, choice["data_ns"]) + took, count, dict(report, event="finish")))
            count += 1
        if asked is not None and asked != wake:
            heapq.heappush(events, (max(now, asked), count, {"event": "heartbeat", "wake_ns": asked}))
            count += 1
        wake = asked
        completions += [end["end_ns"] - end["arrival_ns"] for end in ends]
    return completions


def main():
    parser = argparse.ArgumentParser(description="drives clotho serve with a simulated cluster")
    parser.add_argument("socket")
    parser.add_argument("workload")
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    service, jobs = Service(said.socket), read_jobs(said.workload)
    completions = drive(service, jobs, random.Random(said.seed))
    print("%d jobs, mean completion %.6f s" % (len(completions), sum(completions) / len(completions) / 1e9))


if __name__ == "__main__":
    main()
