"""Memory parts: the simulator against a second one in 60 lines, in floating point. usage: memory_fluid.py DUMP_PROGRAM

It goes from event to event, too, but finds the stretch by Newton's method, and knows nothing of ns: what it says may
differ from the simulator by the half ns by which each end is rounded, times as many ends as come before, times the
largest slowdown that comes behind them."""
import json
import math
import subprocess
import sys


class Fluid:
    def __init__(self, case):
        self.tasks = case["tasks"]  # executor, length, share, MB/s, 1 + the task before, start, finish
        self.capacities = case["capacities"]
        self.left = [float(task[1]) for task in self.tasks]
        self.start, self.finish, self.slowest = {}, {}, 1.0

    def capacity(self, task):
        """Of the memory of the task's executor, and a name for it."""
        memory = self.tasks[task][0] // 2
        own, all_of_it = self.capacities[1 + memory], self.capacities[0]
        return (own, 1 + memory) if own >= 0 else (all_of_it, 0) if all_of_it >= 0 else (math.inf, None)

    def stretch(self, tasks, capacity):
        """The least s >= 1 with sum of m B / (1 - m + m s) <= capacity: Newton from the left on a convex function."""
        parts = [(self.tasks[t][2] / 65536, self.tasks[t][3]) for t in tasks]
        s = 1.0
        for _ in range(200):
            moved = sum(m * b / (1 - m + m * s) for m, b in parts)
            if moved <= capacity * (1 + 1e-13):
                break
            s += (moved - capacity) / sum(m * m * b / (1 - m + m * s) ** 2 for m, b in parts)
        return s

    def speeds(self, running):
        speed = {}
        for name in {self.capacity(t)[1] for t in running}:
            together = [t for t in running if self.capacity(t)[1] == name]
            s = self.stretch(together, self.capacity(together[0])[0]) if name is not None else 1.0
            for t in together:
                m = self.tasks[t][2] / 65536
                speed[t] = 1 / (1 - m + m * s)
                self.slowest = max(self.slowest, 1 - m + m * s)
        return speed

    def may_start(self, task):
        executor, after = self.tasks[task][0], self.tasks[task][4]
        before = [t for t in range(task) if self.tasks[t][0] == executor]
        return task not in self.start and all(t in self.finish for t in before) and (after == 0 or after - 1 in self.finish)

    def run(self):
        now = 0.0
        while len(self.finish) < len(self.tasks):
            for t in range(len(self.tasks)):
                if self.may_start(t):
                    self.start[t] = now
            running = [t for t in self.start if t not in self.finish]
            speed = self.speeds(running)
            step = min(self.left[t] / speed[t] for t in running)
            now += step
            for t in running:
                self.left[t] -= step * speed[t]
                if self.left[t] <= 1e-6:
                    self.finish[t] = now


def main():
    lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    slowed = worst = 0
    for case in cases:
        fluid = Fluid(case)
        fluid.run()
        for t, task in enumerate(case["tasks"]):
            off = max(abs(task[5] - fluid.start[t]), abs(task[6] - fluid.finish[t]))
            worst = max(worst, off)
            slowed += task[6] - task[5] > task[1]
            if off > 1 + len(case["tasks"]) * fluid.slowest / 2 + 1e-9 * task[6]:
                sys.exit(f"seed {case['seed']}, task {t}: {task[5]} to {task[6]}; the second simulation says "
                         f"{fluid.start[t]:.3f} to {fluid.finish[t]:.3f}")
    print(f"{len(cases)} plans, {slowed} executions slowed; at most {worst:.2f} ns apart")
    return 0 if slowed > 1000 else 1


sys.exit(main())
