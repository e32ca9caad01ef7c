"""Tables and blocks of figures in a Markdown page: where they are, what makes them, and how new figures replace the old ones.

The line above a table or a block of text says what makes it: <!-- table NAME | COMMAND | KIND -->
KIND is "same" (each figure must be the page's), "same, but LABEL within N %; ..." (cells whose row or column has the label: plans of a
search that a clock ends), "times" (times, ratios of times and what depends on them: shown, not judged), "record: WHY" (no command of this
clone makes it: another machine, an older build) or "words" (no figures)."""
import os
import re

FIGURE = re.compile(r"`[^`]*`|(?<![\w.])[-+]?\d{1,3}(?: \d{3})+(?![\d.])|(?<![\w.])[-+]?\d+(?:\.\d+)?")
MARK = re.compile(r"^<!-- table ([\w.-]+) \|(?: (.*?) \|)? (same|times|record|words)([,:].*)? -->$")
TOLERANCE = re.compile(r"(.+?) within ([\d.]+) %")


class Wrong(Exception):
    """Something that is not as it should be, as one line."""


class Table:
    """name, command, kind and why; lines first to last (not included) of the page; rows: cells of each line, None for a block of text."""

    def __init__(self, page, first, last, mark, rows):
        self.page, self.first, self.last, self.rows = page, first, last, rows
        self.name, self.command, self.kind, rest = mark.groups()
        self.why = (rest or "").lstrip(":, ").strip()
        self.tolerances = []
        if self.kind == "same" and rest:
            for part in self.why.removeprefix("but ").split("; "):
                found = TOLERANCE.fullmatch(part.strip())
                if not found:
                    raise Wrong("%s: '%s' is not 'LABEL within N %%'" % (self.name, part))
                self.tolerances.append((found.group(1), float(found.group(2)) / 100))

    def tolerance(self, row, column):
        """What a figure may differ by, as a share of it."""
        return max([share for label, share in self.tolerances if label in row or label in column] or [0])


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def pieces(text):
    """(first line, last line, is block of text) of each table and each block of text with aligned figures."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        begin = i
        if lines[i].startswith("```"):
            i += 1
            while i < len(lines) and not lines[i].startswith("```"):
                i += 1
            if lines[begin] == "```" and sum(len(FIGURE.findall(line)) >= 3 for line in lines[begin:i]) >= 2:
                yield begin, i + 1, True
        elif lines[i].startswith("|"):
            while i < len(lines) and lines[i].startswith("|"):
                i += 1
            yield begin, i, False
            continue
        i += 1


def tables_of(path):
    """(tables, complaints) of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines, tables, wrong = text.split("\n"), [], []
    for first, last, is_text in pieces(text):
        mark = MARK.match(lines[first - 1]) if first else None
        if not mark:
            wrong.append("%s:%d: no line <!-- table NAME | COMMAND | KIND --> stands above this table" % (path, first + 1))
        elif (mark.group(2) is None) != (mark.group(3) in ("record", "words")):
            wrong.append("%s:%d: a table has a command, or says why not (record: WHY; words)" % (path, first))
        elif mark.group(3) == "record" and not mark.group(4):
            wrong.append("%s:%d: say why no command of this clone makes it" % (path, first))
        else:
            tables.append(Table(path, first, last, mark, None if is_text else [cells_of(line) for line in lines[first:last]]))
    return tables, wrong


def plain(cell):
    return re.sub(r"[`*]", "", cell).strip()


def shown(value, old):
    """A figure as the old one is written: its decimals, its blanks between thousands, its sign."""
    text = "%.*f" % (len(old.partition(".")[2]), value)
    text = text[1:] if re.fullmatch(r"-0(\.0*)?", text) and not old.startswith("-") else text
    if " " in old:
        text = re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", text)
    return "+" + text if old.startswith("+") and value >= 0 else text


def fill(cell, values):
    """The cell with new figures, which may be None (stays); pairs (old, new) of texts. Too few values: the rest stays."""
    values, pairs = list(values), []

    def put(match):
        if match.group().startswith("`") or not values:
            return match.group()
        value = values.pop(0)
        if value is None:
            return match.group()
        pairs.append((match.group(), shown(value, match.group())))
        return pairs[-1][1]

    return FIGURE.sub(put, cell), pairs


def number(text):
    return float(text.replace(" ", ""))


def differs(old, new, share):
    """A last digit may differ where a share is allowed."""
    if old == new:
        return False
    step = 10 ** -len(old.partition(".")[2])
    return share == 0 or abs(number(old) - number(new)) > share * abs(number(old)) + 1.5 * step


def refill_text(block, said):
    """A block of text with the lines of a program's output that begin with the same words; (lines, number of lines that it has not)."""
    def key(line):
        return tuple(re.split(r"\s{2,}|\s(?=[-\d])", re.sub(r"^\s+", "", line))[:1]), len(FIGURE.findall(line)) > 1

    output, lines, missing, at = said.split("\n"), [], 0, 0
    for line in block:
        found = next((i for i in range(at, len(output)) if key(output[i]) == key(line)), None) if key(line)[1] else None
        missing += key(line)[1] and found is None
        lines.append(line if found is None else output[found].rstrip())
        at = at if found is None else found + 1
    return lines, missing


def write_page(path, replaced, target):
    """The page with lines replaced: {first line: new lines}."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for first, new in replaced.items():
        lines[first:first + len(new)] = new
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
