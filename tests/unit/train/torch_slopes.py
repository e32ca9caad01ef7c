"""The slopes of tools/train against PyTorch: the same networks built of its operations, one tensor a row, and its own
differentiation. usage: torch_slopes.py DUMP_PROGRAM; exit status 77 without PyTorch (Debian: python3-torch)."""
import json
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed; mend: apt-get install -y --no-install-recommends python3-torch")
    sys.exit(77)

NONE = 0xffff
DENSE, JOIN, SUM, SUM_CHILDREN, ADD, TANH, LOOKUP, LOOP, END = range(1, 10)
STAGE, JOB, GLOBAL, LIMIT = range(4)


class Network:
    def __init__(self, dump):
        self.dump = dump
        self.parameters = torch.tensor(dump["parameters"], dtype=torch.float64, requires_grad=True)
        self.rows, at = [], 0
        for domain, width, is_input in dump["values"]:
            rows = []
            for _ in range(dump["rows"][domain]):
                given = torch.tensor(dump["numbers"][at:at + width], dtype=torch.float64)
                rows.append(given if is_input else torch.zeros(width, dtype=torch.float64))
                at += width
            self.rows.append(rows)

    def layer(self, index, x):
        inputs, outputs, stride, column, weights, bias, _ = self.dump["layers"][index]
        matrix = torch.as_strided(self.parameters, (outputs, inputs), (stride, 1), weights + column)
        offset = self.parameters[bias:bias + outputs] if bias >= 0 else None
        return torch.nn.functional.linear(x, matrix, offset)

    def bend(self, index, x):
        return torch.nn.functional.leaky_relu(x, self.dump["layers"][index][6])

    def seen(self, value, domain, row):
        mine = self.dump["values"][value][0]
        if mine != domain:
            row = 0 if mine == GLOBAL else self.dump["job_of_stage" if domain == STAGE else "job_of_limit"][row]
        return self.rows[value][row]

    def children(self, row):
        begin = self.dump["child_begin"]
        return self.dump["children"][begin[row]:begin[row + 1]]

    def apply(self, op, row):
        kind, on, out, a, b, c, argument = op
        if on != 0 and (not self.children(row)) != (on == 1):
            return
        domain, width, _ = self.dump["values"][out]
        y = torch.zeros(width, dtype=torch.float64)
        if kind == DENSE:
            y = self.bend(argument, self.layer(argument, self.rows[a][row]))
        elif kind in (JOIN, ADD):
            y = sum((self.seen(v, domain, row) for v in (a, b, c) if v != NONE), y)
            y = self.bend(argument, y) if kind == JOIN else y
        elif kind == SUM:
            of_jobs = self.dump["values"][a][0] == JOB
            y = sum((x for i, x in enumerate(self.rows[a]) if of_jobs or self.dump["job_of_stage"][i] == row), y)
        elif kind == SUM_CHILDREN:
            y = sum((self.rows[a][child] for child in self.children(row)), y)
        elif kind == TANH:
            y = torch.tanh(self.rows[a][row])
        self.rows[out][row] = y

    def run(self):
        ops, i = self.dump["ops"], 0
        while i < len(ops):
            kind, _, out, a = ops[i][:4]
            if kind == LOOP:
                end = next(k for k in range(i, len(ops)) if ops[k][0] == END)
                if not self.dump["children"] and a != NONE:
                    self.rows[out] = list(self.rows[a])
                else:
                    for row in reversed(range(self.dump["rows"][STAGE])):
                        for op in ops[i + 1:end]:
                            self.apply(op, row)
                i = end
            else:
                for row in range(self.dump["rows"][self.dump["values"][out][0]]):
                    self.apply(ops[i], row)
            i += 1
        return torch.cat([row for rows in self.rows for row in rows])


def main():
    count = 0
    for line in subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
        dump = json.loads(line)
        network = Network(dump)
        numbers = network.run()
        for name, got, wanted in (("numbers", numbers.detach(), dump["numbers"]), ("gradient", None, dump["gradient"])):
            if got is None:
                (numbers * torch.tensor(dump["shares"], dtype=torch.float64)).sum().backward()
                got = network.parameters.grad
            wanted = torch.tensor(wanted, dtype=torch.float64)
            worst = ((got - wanted).abs() / (1 + wanted.abs())).max().item()
            if not worst < 1e-10:
                sys.exit("network %d: %s differ by %g" % (count, name, worst))
        count += 1
    if count == 0:
        sys.exit("there is no network")
    print("%d networks: numbers and slopes as PyTorch %s has them" % (count, torch.__version__))


main()
