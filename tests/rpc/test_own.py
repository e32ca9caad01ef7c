"""Workflows of one's own: the example of five calls, and one of twelve whose coordinator is killed at random moments, and one of
whose services is killed, too: each effect once, the same answer. usage: test_own.py BIN DATA [--full]"""
import sqlite3

from net import *

KILLS = 50 if FULL else 10
OWN = os.path.join(BIN, "..", "tests", "own_workflow")
draw = seeded()

for _ in range(5 if FULL else 2):
    done = subprocess.run([os.path.join(BIN, "example-rpc-workflow")], capture_output=True, text=True, timeout=LIMIT, check=False)
    lines = done.stdout.splitlines()
    check(done.returncode == 0 and lines[0] == "mail(pay(quote(find(a book))pack(quote(find(a book)))))", done.stdout + done.stderr)
    calls, _, hedges, _ = lines[1].split()
    check(int(calls) >= 6 and int(hedges) >= 1, "a hedge, and a call that is sent again when its service was killed: " + lines[1])


def start(*words):
    return subprocess.Popen([OWN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=follow)


def serve(address, name):
    """A service, and where it listens. The kernel may need a moment to give the port of a killed one back."""
    keys = os.path.join(folder, name + ".keys") if name == "books" else "-"
    made = []

    def listens():
        process = start("serve", address, keys, os.path.join(folder, name + ".lines"))
        line = process.stdout.readline()
        if line:
            made.extend((process, line.split()[1]))
        else:
            process.wait()
        return line
    until(listens, "the service listens at " + address)
    return made


books, books_at = serve("127.0.0.1:0", "books")
notes, notes_at = serve("127.0.0.1:0", "notes")
services = "books=%s;notes=%s" % (books_at, notes_at)
answers, killed, services_killed, number = set(), 0, 0, 0
while killed < KILLS or number == 0:
    number += 1
    journal = os.path.join(folder, "journal%d" % number)
    while True:
        process = start("run", services, journal)
        if killed < KILLS:
            try:
                process.wait(timeout=draw.random() * 0.2)
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
                if draw.random() < 0.3:
                    books.kill()
                    books.wait()
                    books, _ = serve(books_at, "books")
                    services_killed += 1
        out, error = process.communicate(timeout=LIMIT)
        if process.returncode == 0:
            answers.add(out)
            break
        if process.returncode != -signal.SIGKILL:
            sys.exit("FAILED: run %d: %d: %s" % (number, process.returncode, error))
check(len(answers) == 1 and out.startswith("look 11 "), "%d runs, killed %d times, give one answer" % (number, killed))
for process in (books, notes):
    process.terminate()
    check(process.wait(timeout=LIMIT) == 0, "a service ends well")
rows = sqlite3.connect(os.path.join(folder, "books.keys")).execute("SELECT times, count(*) FROM did GROUP BY times").fetchall()
check(rows == [(1, 4 * number)], "the table of keys has each of %d effects once, with %d kills of its service: %s" % (
    4 * number, services_killed, rows))
with open(os.path.join(folder, "notes.lines"), encoding="utf-8") as file:
    lines = file.read().splitlines()
check(len(lines) == len(set(lines)) == 4 * number, "and the file each of %d" % len(lines))

# What a workflow is told that cannot be.
done = subprocess.run([OWN, "run", services + ";books=127.0.0.1:1", os.path.join(folder, "other")], capture_output=True, text=True,
                      timeout=LIMIT, check=False)
check(done.returncode == 1 and "twice" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
done = subprocess.run([OWN, "run", "books=" + books_at, os.path.join(folder, "other")], capture_output=True, text=True, timeout=LIMIT,
                      check=False)
check(done.returncode == 1 and "'notes'" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
sqlite3.connect(os.path.join(folder, "later")).execute("CREATE TABLE run(id INTEGER, name TEXT)").connection.commit()
done = subprocess.run([OWN, "run", services, os.path.join(folder, "later")], capture_output=True, text=True, timeout=LIMIT, check=False)
check(done.returncode == 1 and "of another version" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
with open(os.path.join(folder, "text"), "w", encoding="utf-8") as file:
    file.write("no database " * 1000)
done = subprocess.run([OWN, "run", services, os.path.join(folder, "text")], capture_output=True, text=True, timeout=LIMIT, check=False)
check(done.returncode == 1 and "damaged" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
