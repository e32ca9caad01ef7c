"""clotho.rpc: workflows of calls and services of Python functions; what cannot be is an exception with one line."""
import http.server
import os
import re
import subprocess
import sys
import threading
import time
import unittest

from support import LONG, SANITIZED, SOURCE, PackageTest

from clotho import errors, library
from clotho.library import ffi

try:
    from clotho import rpc
except ImportError:
    rpc = None


def answer(request):
    return b"%s(%s)" % (request.method.encode(), request.body)


def refuse(request):
    raise {"value": ValueError("no such\nbook"), "time": TimeoutError("too late"), "limit": errors.LimitError("too many"),
           "lines": ValueError("\n\nbehind"), "letters": ValueError("x" + "\u00e9" * 200), "type": None or TypeError("odd")}[request.method]


@unittest.skipIf(rpc is None, "no libclotho-rpc")
class Rpc(PackageTest):
    def setUp(self):
        super().setUp()
        methods = dict.fromkeys(("value", "time", "limit", "type", "lines", "letters"), refuse)
        self.service = rpc.Service({"": answer, "none": lambda request: None, "long": lambda request: b"x" * 100, **methods})
        self.thread = self.service.start()
        self.addCleanup(self.thread.join)
        self.addCleanup(self.service.stop)

    def workflow(self, **fields):
        made = rpc.Workflow({"s": self.service.endpoint}, backoff_ns=1_000_000, **fields)
        self.addCleanup(made.close)
        return made

    def test_answers_become_bodies(self):
        workflow = self.workflow()
        a = workflow.call("s", "a", b"1")
        b = workflow.call("s", "b", bytearray(b"2"), effect="keyed")
        c = workflow.call("s", "c", b"3", after=[b, a])
        here = workflow.call(after=[c], here=lambda request: request.body.upper())
        result = workflow.run()
        self.assertEqual(workflow.answer(c), b"c(3b(2)a(1))")
        self.assertEqual(workflow.answer(here), b"C(3B(2)A(1))")
        self.assertEqual((result["status"], result["tasks"], result["calls"], result["failures"]), ("OK", 4, 3, 0))

    def test_requests_say_what_they_are(self):
        seen, workflow = [], self.workflow(run=7)
        workflow.call("s", "a", effect="keyed")
        workflow.call(here=lambda request: seen.append(request) or b"")
        workflow.run()
        self.assertEqual((seen[0].run, seen[0].task, seen[0].instance, seen[0].effect, seen[0].body), (7, 1, 0, "pure", b""))

    def test_what_handlers_raise_is_told(self):
        for method, line in (("value", r"invalid \(no such\)"), ("time", r"deadline \(too late\)"), ("limit", r"exhausted \(too many"),
                             ("lines", r"invalid \(behind\)"), ("letters", r"invalid \(x\u00e9{79}\)"), ("type", r"invalid \(odd\)"),
                             ("none", "returned a NoneType; return bytes"),
                             ("long", "has 100 bytes, and there is room for 16")):
            workflow = self.workflow()
            workflow.call("s", method, answer_bytes=16)
            with self.assertRaisesRegex(errors.TaskError, line):
                workflow.run()

    def test_arguments_that_cannot_be(self):
        workflow = self.workflow()
        for kind, made in ((errors.ArgumentError, lambda: rpc.Workflow("nothing")), (errors.ArgumentError, lambda: rpc.Workflow({})),
                           (TypeError, lambda: rpc.Workflow(3)), (TypeError, lambda: rpc.Workflow("s=127.0.0.1:1", slot=1)),
                           (errors.ArgumentError, lambda: rpc.Service({}, listen="here")), (TypeError, lambda: rpc.Service({"a": 3})),
                           (errors.ArgumentError, lambda: rpc.Service({"a b": answer})),
                           (TypeError, lambda: rpc.Service({}, allowed="10.*")),
                           (errors.ArgumentError, lambda: workflow.call("t")), (errors.ArgumentError, lambda: workflow.call("s", "a b")),
                           (errors.ArgumentError, lambda: workflow.call("s", after=[0])),
                           (TypeError, lambda: workflow.call("s", body="text")),
                           (errors.ArgumentError, lambda: workflow.call("s", effect="twice")),
                           (TypeError, lambda: workflow.call("s", here=1)),
                           (errors.ArgumentError, lambda: workflow.call("s", instances=2, arrivals_ns=[0])),
                           (errors.ArgumentError, workflow.run), (errors.ArgumentError, lambda: workflow.move("t", 0, "127.0.0.1:1"))):
            with self.assertRaises(kind) as caught:
                made()
            self.assertNotIn("\n", str(caught.exception))
        workflow.close()
        workflow.close()
        with self.assertRaises(errors.StateError):
            workflow.run()
        with self.assertRaises(errors.StateError):
            self.service.run()  # it runs

    def test_a_run_is_cancelled_by_another_thread(self):
        held, workflow = threading.Event(), self.workflow()
        self.addCleanup(held.set)

        def wait(_):
            workflow.cancel()
            held.wait(LONG)
            return b""
        slow = rpc.Service({"": wait})
        thread = slow.start()
        workflow.move("s", 0, slow.endpoint)
        workflow.call("s")
        with self.assertRaises(errors.Cancelled):
            workflow.run()
        held.set()
        slow.close()
        thread.join()

    def test_events_and_latencies_of_many(self):
        lines = []
        workflow = self.workflow(event=lines.append)
        a = workflow.call("s", "a", arrivals_ns=[0, 1000, 2000])
        self.assertEqual(workflow.run()["instances"], 3)
        self.assertEqual([workflow.answer(a, i) for i in range(3)], [b"a()"] * 3)
        self.assertEqual(sum(line.startswith("answer ") for line in lines), 3)

    def test_foreign_services_get_the_method_in_their_path(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                said = b"%s %s %d" % (self.path.encode(), body, len(self.headers["Idempotency-Key"]))
                self.send_response(503 if self.path.endswith("/later") else 200)
                self.send_header("Content-Length", str(len(said)))
                self.send_header("Retry-After", "100000")
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            with rpc.Workflow({"f": "http://127.0.0.1:%d/base" % server.server_address[1]}) as workflow:
                a, b = workflow.call("f", "a/b", b"1", effect="keyed"), workflow.call("f", body=b"2")
                workflow.run()
                self.assertEqual((workflow.answer(a), workflow.answer(b)), (b"/base/a/b 1 16", b"/base 2 16"))
            with rpc.Workflow({"f": "http://127.0.0.1:%d" % server.server_address[1]}, deadline_ns=60_000_000_000) as workflow:
                workflow.call("f", "later")
                with self.assertRaisesRegex(errors.TaskError, r"exhausted .* after 1 attempt"):  # it is not asked again at once
                    workflow.run()
            server.shutdown()
            thread.join()

    @unittest.skipIf(SANITIZED, "its processes are forked")
    def test_a_service_in_a_process_of_its_own(self):
        with rpc.Workflow({"own": rpc.fork({"": answer})}) as workflow:
            call = workflow.call("own", "pid", b"x")
            workflow.run()
            self.assertEqual(workflow.answer(call), b"pid(x)")
        with self.assertRaisesRegex(errors.ArgumentError, "endpoint|ADDRESS"):
            rpc.fork({"": answer}, listen="nowhere")
        with self.assertRaises(TypeError):
            rpc.fork({"": answer}, nothing=1)

    @unittest.skipIf(SANITIZED, "its processes are forked")
    def test_the_example(self):
        path = os.path.join(SOURCE, "examples", "rpc", "workflow.py")
        said = subprocess.run([sys.executable, "-B", path], capture_output=True, text=True, timeout=LONG, check=False)
        lines = said.stdout.splitlines()
        self.assertEqual(lines[:1], ["mail(pay(quote(find(a book))pack(quote(find(a book)))))"], said.stderr)
        self.assertRegex(lines[1], r"^\d calls, [1-3] hedges$")

    @unittest.skipIf(SANITIZED, "it forks")
    def test_an_end_with_all_of_it_open(self):
        said = self.python("""
import os
from clotho import rpc
service = rpc.Service({"": lambda request: b"x"})
service.start()
workflow = rpc.Workflow({"s": service.endpoint})
workflow.call("s")
workflow.run()
if os.fork() == 0:
    try:
        workflow.run()
    except Exception as error:
        print(type(error).__name__, flush=True)
    os._exit(0)  # libuv would join threads that a forked child has not
print(os.waitstatus_to_exitcode(os.wait()[1]))
""")
        self.assertEqual(said, "StateError\n0\n")

    def test_every_function_of_the_header_is_there(self):
        with open(os.path.join(SOURCE, "include", "clotho", "rpc.h"), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        found = set(re.findall(r"^CLO_API\b[^;{(]*?\b(clo_\w+)\s*\(", text, re.M))
        self.assertGreater(len(found), 15)
        for name in sorted(found):
            self.assertEqual(ffi.typeof(getattr(rpc.lib, name)).kind, "function", name)

    def test_who_drops_everything_leaks_no_thread(self):
        before = threading.active_count()
        for _ in range(20):
            workflow = rpc.Workflow({"s": self.service.endpoint})
            workflow.call("s", "a")
            workflow.run()
            del workflow
        library.free_later_ones()
        deadline = time.monotonic() + LONG
        while len(os.listdir("/proc/self/task")) > before + 40 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLessEqual(threading.active_count(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
