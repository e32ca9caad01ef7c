"""A workflow of one's own, as workflow.c: five calls, a hedge, deadlines, and a service that is killed in the middle."""
import multiprocessing
import os
import signal
import time

from clotho import rpc


def answer(request):
    if request.method == "quote" and request.attempt == 1:
        time.sleep(5)  # the other shop gets a hedge
    if request.method == "pack" and request.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)  # the other shop answers
    return b"%s(%s)" % (request.method.encode(), request.body)


def serve(told):
    service = rpc.Service({"": answer})
    told.send(service.endpoint)
    service.run()


def start():
    """A service in a process of its own, which ends with this one."""
    here, there = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(there,), daemon=True).start()
    return here.recv()


services = {"shop": [start(), start()], "bank": start()}
with rpc.Workflow(services, deadline_ns=60_000_000_000, hedge_ns=50_000_000) as workflow:
    find = workflow.call("shop", "find", b"a book")
    quote = workflow.call("shop", "quote", after=[find], deadline_ns=30_000_000_000)
    pack = workflow.call("shop", "pack", after=[quote])
    pay = workflow.call("bank", "pay", after=[quote, pack], effect="keyed")
    mail = workflow.call("bank", "mail", after=[pay])
    result = workflow.run()
    print(workflow.answer(mail).decode())
    print("%(calls)d calls, %(hedges)d hedges" % result)
