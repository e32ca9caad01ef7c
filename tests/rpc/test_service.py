"""A service by itself, spoken to in raw frames: load is shed by least slack, what cannot finish is not begun, keys are
applied once, and bad frames cost only their connection."""
from frames import *
from net import *

net = Net(1)
random_ = seeded()
narrow = net.service(0, "narrow", "--slots", "1", "--queue", "2", "--sigma", "0")
wide = net.service(0, "wide", "--sigma", "0")
net.enter()


S = 1000000
peer = Peer(narrow)
peer.send(request(1, NEVER, 3 * S)                      # takes the only unit
          + request(2, 90 * S, 1000) + request(3, 60 * S, 1000)  # the queue is full
          + request(4, 80 * S, 1000)
          + request(5, 95 * S, 1000, 94 * S))           # has much time, and needs it; all at once, so none comes when the first is done
call, status, pushback = peer.answer()
check((call, status) == (3, EXHAUSTED) and pushback > 0, "the least slack is turned away, to come again in %d ms" % pushback)
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
peer.send(request(4, 200000, 30 * S, 1000) + request(5, 30 * S, 1500000))
check(peer.answer()[:2] == (4, DEADLINE), "work stops at the deadline, without a cancel")
check(peer.answer()[:2] == (5, OK), "other work is done")
check([e["instance"] for e in events(wide.log) if e["event"] in ("expire", "done")] == [3, 4, 5], "and not before the deadline")
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
