"""How calm the machine was meanwhile: on a machine that others use, a time says nothing about what was timed."""
import os
import resource


def _busy_seconds():
    """Processor time of all programs, and what the host gave to others: user nice system irq softirq steal."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return sum(ticks[n] for n in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")


def _own_seconds():
    """Of this process and of its children that have ended."""
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in of)


class Watch:
    """others(): the part of all processors, since it was made, that was neither idle nor this process's and its children's."""

    def __init__(self):
        self.busy, self.own, self.began = _busy_seconds(), _own_seconds(), os.times().elapsed

    def others(self):
        others = (_busy_seconds() - self.busy) - (_own_seconds() - self.own)
        return max(0.0, others) / max(1e-9, (os.times().elapsed - self.began) * os.cpu_count())
