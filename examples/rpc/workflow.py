"""A workflow of one's own, as workflow.c: five calls, a hedge, deadlines, and a service that is killed in the middle."""
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


shops, bank = [rpc.fork({"": answer}), rpc.fork({"": answer})], rpc.fork({"": answer})
with rpc.Workflow({"shop": shops, "bank": bank}, deadline_ns=60_000_000_000, hedge_ns=50_000_000) as workflow:
    find = workflow.call("shop", "find", b"a book")
    quote = workflow.call("shop", "quote", after=[find], deadline_ns=30_000_000_000)
    pack = workflow.call("shop", "pack", after=[quote])
    pay = workflow.call("bank", "pay", after=[quote, pack], effect="keyed")
    mail = workflow.call("bank", "mail", after=[pay])
    result = workflow.run()
    print(workflow.answer(mail).decode())
    print("%(calls)d calls, %(hedges)d hedges" % result)
