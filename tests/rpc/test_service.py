"""A service by itself, spoken to in raw frames: load is shed by least slack, what cannot finish is not begun, keys are
applied once, and bad frames cost only their connection."""
import socket
import struct

from net import *

HEAD = struct.Struct(">IBBHQQIIqQ")
NEVER = (1 << 63) - 1
net = Net(1)
random_ = seeded()
narrow = net.service(0, "narrow", "--slots", "1", "--queue", "2", "--sigma", "0")
wide = net.service(0, "wide", "--sigma", "0")
net.enter()


def binary(data):
    return b"\xc5" + struct.pack(">H", len(data)) + data


def number(n):
    return b"\xcf" + struct.pack(">Q", n)


def request(call, left_us, work_us, rest_us=None, key=0, run=1, kind=1, instance=None):
    body = b"\x96" + number(work_us) + number(work_us if rest_us is None else rest_us) + number(8) + number(key != 0) + \
        b"\x90" + binary(b"abc")
    return HEAD.pack(HEAD.size - 4 + len(body), kind, 0, 1, call, run, 0, call & 0xffff if instance is None else instance, left_us,
                     key) + body


class Peer:
    def __init__(self, service):
        address, port = service.endpoint.split(":")
        self.socket = socket.create_connection((address, int(port)), timeout=60)
        self.kept = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # closed by the service

    def answer(self):
        """(call, status, pushback) of the next answer; None: the connection was closed."""
        while True:
            if len(self.kept) >= 4 and len(self.kept) >= 4 + struct.unpack(">I", self.kept[:4])[0]:
                size = 4 + struct.unpack(">I", self.kept[:4])[0]
                frame, self.kept = self.kept[:size], self.kept[size:]
                pushback = frame[HEAD.size + 2]  # small numbers are one byte
                if pushback == 0xcd:
                    pushback = struct.unpack(">H", frame[HEAD.size + 3:HEAD.size + 5])[0]
                elif pushback == 0xcc:
                    pushback = frame[HEAD.size + 3]
                return HEAD.unpack(frame[:HEAD.size])[4], frame[HEAD.size + 1], pushback
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not more:
                return None
            self.kept += more


OK, INVALID, EXHAUSTED, DEADLINE = 0, 1, 3, 4
S = 1000000
peer = Peer(narrow)
peer.send(request(1, NEVER, 3 * S))                     # takes the only unit
peer.send(request(2, 90 * S, 1000) + request(3, 60 * S, 1000))  # the queue is full
peer.send(request(4, 80 * S, 1000))
call, status, pushback = peer.answer()
check((call, status) == (3, EXHAUSTED) and pushback > 0, "the least slack is turned away, to come again in %d ms" % pushback)
peer.send(request(5, 95 * S, 1000, 94 * S))             # has much time, and needs it
call, status, _ = peer.answer()
check((call, status) == (5, EXHAUSTED), "slack counts what is still to be done")
answers = [peer.answer() for _ in range(3)]
check([a[:2] for a in answers] == [(1, OK), (2, OK), (4, OK)], "the others are served in their order")
check([e["instance"] for e in events(narrow.log) if e["event"] == "shed"] == [3, 5], "the log says so")

peer = Peer(wide)
peer.send(request(1, 5000, 1000, 50000))
check(peer.answer()[:2] == (1, DEADLINE), "what cannot finish is not begun")
check(not [e for e in events(wide.log) if e["event"] == "start"], "by the log")
peer.send(request(2, -5, 0, 0) + request(3, NEVER, 0))
check(sorted([peer.answer()[:2], peer.answer()[:2]]) == [(2, DEADLINE), (3, OK)], "less than nothing is left")
peer.send(request(4, 200000, 30 * S, 1000) + request(5, 30 * S, 300000))
check(peer.answer()[:2] == (4, DEADLINE), "work stops at the deadline, without a cancel")
check([e["instance"] for e in events(wide.log) if e["event"] in ("expire", "done")] == [3, 4], "not later than other work")
check(peer.answer()[:2] == (5, OK), "which is done")
for n in range(5):
    peer.send(request(10 + n, NEVER, 100 * n, key=77, instance=9))
check({peer.answer()[1] for _ in range(5)} == {OK}, "five attempts with one key")
with open(wide.effects, encoding="utf-8") as file:
    check(file.read().count("\n") == 1, "have one effect")
peer.send(request(20, NEVER, 0, key=77, instance=8))
check(peer.answer()[:2] == (20, INVALID), "a key that another request has had is refused")

good = request(1, NEVER, 0)
bad = [b"\xff" * 64, b"GET / HTTP/1.1\r\n\r\n" * 4, struct.pack(">I", 5) + bytes(64), HEAD.pack(44, 9, 0, 1, 1, 1, 0, 0, 0, 0),
       HEAD.pack(44, 1, 7, 1, 1, 1, 0, 0, 0, 0), HEAD.pack(44, 1, 0, 1, 1, 1, 0, 0, 0, 0), HEAD.pack(44, 2, 0, 1, 1, 1, 0, 0, 0, 0)[:20] + bytes(28),
       good[:HEAD.size] + b"\xc1" * (len(good) - HEAD.size), good[:HEAD.size] + b"\xdf\xff\xff\xff\xff" + bytes(len(good) - HEAD.size - 5)]
for data in bad:
    peer = Peer(wide)
    peer.send(data)
    peer.socket.shutdown(socket.SHUT_WR)
    while peer.answer() is not None:
        pass
for _ in range(3000 if FULL else 300):  # one byte is another, and the end may be missing
    data = bytearray(request(1, NEVER, 0, run=random_.randrange(1 << 40)))
    for _ in range(random_.randrange(1, 4)):
        data[random_.randrange(len(data))] = random_.randrange(256)
    peer = Peer(wide)
    peer.send(bytes(data[:random_.randrange(1, len(data) + 1)]))
    peer.socket.close()
check(wide.process.poll() is None, "bad frames cost only their connection")
peer = Peer(wide)
for byte in good:
    peer.send(bytes([byte]))
check(peer.answer()[:2] == (1, OK), "a frame that comes byte by byte is whole in the end")
peer.send(request(2, NEVER, 3600 * S))
until(lambda: any(e["event"] == "start" and e["instance"] == 2 for e in events(wide.log)), "it begins")
peer.socket.close()
until(lambda: any(e["event"] == "lost" and e["instance"] == 2 for e in events(wide.log)), "work for a lost peer ends")
net.stop()
