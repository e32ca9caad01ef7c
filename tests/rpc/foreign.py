"""A foreign service: Python's http.server, HTTP/1.1 with connections that are kept. It knows nothing of our frames; it
computes what answer.c does. Of each key the first request is turned away with 503 in one of `refuse` cases.

usage: foreign.py ADDRESS LOG BYTES REFUSE"""
import http.server
import sys

MASK = (1 << 64) - 1


def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & MASK
    return x ^ x >> 31


def answer(task, instance, inputs, size):
    h = 14695981039346656037
    for byte in inputs:
        h = ((h ^ byte) * 1099511628211) & MASK
    word, out = mix(h ^ (task << 32 | instance)), b""
    while len(out) < size:
        word = mix(word)
        out += word.to_bytes(8, "little")
    return out[:size]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        task, instance = (int(n) for n in self.headers["X-Task"].split("/"))
        key, attempt = self.headers["Idempotency-Key"], int(self.headers["X-Attempt"])
        refused = attempt == 1 and refuse > 0 and int(key, 16) % refuse == 0
        log.write("%s port=%d key=%s attempt=%d left=%s\n" % ("refuse" if refused else "answer", self.client_address[1], key,
                                                            attempt, self.headers.get("X-Left-Us", "-1")))
        log.flush()
        out = b"" if refused else answer(task, instance, body, size)
        self.send_response(503 if refused else 200)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    log = open(sys.argv[2], "a", encoding="utf-8")
    size, refuse = int(sys.argv[3]), int(sys.argv[4])
    server = http.server.ThreadingHTTPServer((sys.argv[1], 0), Handler)
    print("listening http://%s:%d/call" % (sys.argv[1], server.server_address[1]), flush=True)
    server.serve_forever()
