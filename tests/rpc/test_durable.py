"""Effects across kills and full disks: services are killed (SIGKILL) at random points and come back, their disk fills
up and is emptied, the coordinator's too. Each effect has happened once, and no answer was given before it was durable."""
import shutil
import sqlite3

from net import *

random_ = seeded()
KILLS = 60 if FULL else 8
if shutil.which("mount") is None or ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0 or subprocess.run(
        ["mount", "--make-rprivate", "/"], check=False).returncode != 0:  # mounts of this test are its own
    print("skipped: no mount namespace here; mend: run the tests as root, with CAP_SYS_ADMIN and Debian's package mount")
    sys.stdout.flush()
    os._exit(77)
net = Net(3)


def keep_service(host, keys, listen=None, *options):
    program = [os.path.join(BIN, "example-rpc-service"), "--listen", listen or net.address(host) + ":0",
               "--pace", "0.3", "--keys", keys, *options]
    return Service(net, host, "keeps", program=program)


def small_disk(name, size):
    path = os.path.join(folder, name)
    os.mkdir(path)
    atexit.register(lambda: subprocess.run(["umount", "-l", path], check=False))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", path], check=True)
    return path


def fill(path):
    """Leaves not a single page."""
    with open(os.path.join(path, "filler"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def effects_of(paths, run):
    """How often each effect of the run has happened, by the services' own tables."""
    counts = {}
    for path in paths:
        table = sqlite3.connect(path)
        for task, instance, times in table.execute("SELECT task, instance, times FROM effect WHERE run = ?", (run,)):
            counts[task, instance] = counts.get((task, instance), 0) + times
        table.close()
    return counts


# Services die and come back while a run goes on.
keys = [os.path.join(folder, "keys%d" % i) for i in range(3)]
services = [keep_service(i, keys[i], None, *(["--durable"] if i == 0 else [])) for i in range(3)]
groups = shared([[s.endpoint] for s in services])
path = call_graphs()
words = ["--services", groups, "--graph", path, "--pick", str(pick_graph(path, 20)), "--effects", "80",
         "--backoff-ms", "20", "--attempt-ms", "20000"]
clean, _, _ = net.run(*words, "--run", "1")
repeats = 0
for run in range(2, 2 + KILLS):
    process = net.start(*words, "--run", str(run), "--journal", os.path.join(folder, "j%d" % run), "--json")
    for _ in range(random_.randrange(1, 3)):
        time.sleep(random_.random() * 0.06)
        victim = random_.randrange(3)
        services[victim].kill()
        services[victim] = keep_service(victim, keys[victim], services[victim].endpoint)
    out, error = process.communicate(timeout=LIMIT)
    while process.returncode != 0:  # attempts are few; the journal goes on
        if "unavailable" not in error:
            sys.exit("FAILED: run %d: %s" % (run, error))
        repeats += 1
        process = net.start(*words, "--run", str(run), "--journal", os.path.join(folder, "j%d" % run), "--json")
        out, error = process.communicate(timeout=LIMIT)
    if json.loads(out)["hash"] != clean["hash"]:
        sys.exit("FAILED: run %d has another output" % run)
for service in services:
    service.stop()
wanted = effects_of(keys, 1)
check(len(wanted) > 10 and set(wanted.values()) == {1}, "a run has %d effects" % len(wanted))
for run in range(2, 2 + KILLS):
    seen = effects_of(keys, run)
    if seen != wanted:
        sys.exit("FAILED: run %d (SEED): %s" % (run, {k: (wanted.get(k), seen.get(k)) for k in wanted | seen
                                                      if wanted.get(k) != seen.get(k)}))
check(True, "%d runs through which services were killed have each effect once (%d had to go on)" % (KILLS, repeats))

# The disk of a service fills up in the middle, and is emptied.
disk = small_disk("disk", 16 << 20)
service = keep_service(0, os.path.join(disk, "keys"))
one = ["--services", group("a", [service]), "--requests", "400", "--slots", "20", "--effects", "100",
       "--work-us", "1000", "--bytes", "256", "--backoff-ms", "5"]
fill(disk)
_, error, _ = net.run(*one, "--run", "7", want=1)
check("table of keys cannot be" in error and "full" in error and error.count("\n") == 0, error)
os.remove(os.path.join(disk, "filler"))
check(service.process.poll() is None, "the service goes on")
row, _, _ = net.run(*one, "--run", "7")
check(row["answered"] == 400, "and applies them when there is room")
for size in range(150 if FULL else 20):  # the room ends at any place: within a run, within a transaction
    kept = ["--run", str(100 + size), "--journal", os.path.join(folder, "full%d" % size)]  # what is answered is done
    process = net.start(*one, *kept)
    time.sleep(random_.random() * 0.05)
    fill(disk)
    process.communicate(timeout=LIMIT)
    os.remove(os.path.join(disk, "filler"))
    net.run(*one, *kept)
    if size % 10 == 9:  # the table only grows
        service.stop()
        for run in [7] + list(range(100 + size // 10 * 10, 101 + size)):
            if run == 7 and size > 9:
                continue
            seen = effects_of([os.path.join(disk, "keys")], run)
            if len(seen) != 400 or set(seen.values()) != {1}:
                sys.exit("FAILED: run %d (SEED): %d effects, %s times" % (run, len(seen), set(seen.values())))
        for name in os.listdir(disk):
            os.remove(os.path.join(disk, name))
        service = keep_service(0, os.path.join(disk, "keys"), service.endpoint)
check(True, "a disk that is full for a while: each effect once")

# The coordinator's disk is full: one line, and the run goes on later.
journals = small_disk("journals", 1 << 20)
plenty = ["--services", group("a", [service]), "--requests", "2000", "--slots", "50", "--effects", "50",
          "--work-us", "100", "--bytes", "1024", "--run", "9"]
near, _, _ = net.run(*plenty, "--local")
_, error, _ = net.run(*plenty, "--journal", os.path.join(journals, "j"), want=1)
check("journal cannot be" in error and "full" in error and error.count("\n") == 0, error)
subprocess.run(["mount", "-o", "remount,size=64m", journals], check=True)
row, _, _ = net.run(*plenty, "--journal", os.path.join(journals, "j"))
check(row["hash"] == near["hash"] and 0 < row["done_before"] < 2000, "with more room it goes on: %d of 2000 were done" %
      row["done_before"])
fill(journals)
_, error, _ = net.run(*plenty, "--journal", os.path.join(journals, "another"), want=2)
check("journal" in error and error.count("\n") == 0, error)

# Another process has it.
_, error, _ = net.run(*one, "--journal", os.path.join(disk, "keys"), want=2)
check("keys" in error and error.count("\n") == 0, error)
service.stop()
with open(os.path.join(disk, "keys"), "r+b") as file:
    file.seek(100)
    file.write(os.urandom(3000))
done = subprocess.run([os.path.join(BIN, "example-rpc-service"), "--listen", "127.0.0.1:0",
                       "--keys", os.path.join(disk, "keys")], capture_output=True, text=True, timeout=LIMIT)
check(done.returncode == 2 and "damaged" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
net.stop()
