"""A line with a delay between two network namespaces, for kernels without netem: a TUN device in each, and this process
between them. usage: relay.py NAMESPACE_A NAMESPACE_B DEVICE DELAY_US; writes "ready" when both devices are there."""
import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000
CLONE_NEWNET, PR_SET_TIMERSLACK = 0x40000000, 29
LIBC = ctypes.CDLL(None, use_errno=True)


def open_in(namespace, device):
    """A TUN device is made where its maker is; its file works from anywhere."""
    with open("/run/netns/" + namespace, "rb") as where:
        if LIBC.setns(where.fileno(), CLONE_NEWNET) != 0:
            sys.exit("relay: setns %s: %s" % (namespace, os.strerror(ctypes.get_errno())))
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def main():
    ends = [open_in(name, sys.argv[3]) for name in sys.argv[1:3]]
    delay = int(sys.argv[4]) * 1e-6
    LIBC.prctl(PR_SET_TIMERSLACK, 1)
    queues = [collections.deque(), collections.deque()]  # (when it is due, packet) to each end
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # ranks that poll shall not hold it up
    except OSError:
        pass
    print("ready", flush=True)
    while True:
        due = min((q[0][0] for q in queues if q), default=None)
        wait = None if due is None else max(0.0, due - time.monotonic())
        for file in select.select(ends, [], [], wait)[0]:  # epoll counts in ms
            to = queues[0 if file == ends[1] else 1]
            try:
                while True:
                    packet = os.read(file, 65536)
                    to.append((time.monotonic() + delay, packet))
            except BlockingIOError:
                pass
        now = time.monotonic()
        for end, queue in zip(ends, queues):
            while queue and queue[0][0] <= now:
                try:
                    os.write(end, queue.popleft()[1])
                except OSError:
                    pass  # a network may lose packets


if __name__ == "__main__":
    main()
