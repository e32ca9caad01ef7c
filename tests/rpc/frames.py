"""Frames of runtime/rpc/wire/frame.h, written and read by hand: what tests speak to services with."""
import socket
import struct

HEAD = struct.Struct(">IBBHQQIIqQ")
NEVER = (1 << 63) - 1
REQUEST, ANSWER, CANCEL, PING, PONG = range(1, 6)
OK, INVALID, UNAVAILABLE, EXHAUSTED, DEADLINE = range(5)


def binary(data):
    return b"\xc5" + struct.pack(">H", len(data)) + data


def text(data):
    return b"\xd9" + bytes([len(data)]) + data.encode()


def number(n):
    return b"\xcf" + struct.pack(">Q", n)


def frame(call, left_us, body=b"", key=0, run=1, kind=REQUEST, instance=None, attempt=1):
    return HEAD.pack(HEAD.size - 4 + len(body), kind, 0, attempt, call, run, 0,
                     call & 0xffff if instance is None else instance, left_us, key) + body


def request(call, left_us, work_us, rest_us=None, key=0, run=1, instance=None, hops=()):
    numbers = (work_us, work_us if rest_us is None else rest_us, 8, int(key != 0))
    body = b"\x96" + b"".join(number(n) for n in numbers) + bytes([0x90 + len(hops)]) + \
        b"".join(text(h) for h in hops) + binary(b"abc")
    return frame(call, left_us, body, key, run, REQUEST, instance)


def cancel(call):
    return frame(call, NEVER, kind=CANCEL)


def small(data, at):
    """A number of msgpack at data[at], and what is behind it."""
    sizes = {0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
    if data[at] not in sizes:
        return (data[at] if data[at] < 0x80 else data[at] - 256), at + 1
    form = sizes[data[at]]
    return struct.unpack_from(form, data, at + 1)[0], at + 1 + struct.calcsize(form)


class Peer:
    def __init__(self, service):
        address, port = service.endpoint.split(":")
        self.socket = socket.create_connection((address, int(port)), timeout=120)
        self.kept = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # closed by the service

    def answer(self):
        """(call, status, pushback) of the next answer; None: the connection was closed."""
        whole = self.frame()
        if whole is None:
            return None
        status, at = small(whole, HEAD.size + 1)
        return HEAD.unpack(whole[:HEAD.size])[4], status, small(whole, at)[0]

    def frame(self):
        while True:
            if len(self.kept) >= 4 and len(self.kept) >= 4 + struct.unpack(">I", self.kept[:4])[0]:
                size = 4 + struct.unpack(">I", self.kept[:4])[0]
                whole, self.kept = self.kept[:size], self.kept[size:]
                return whole
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not more:
                return None
            self.kept += more
