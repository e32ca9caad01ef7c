"""Which files need each other in a circle. A header and the source of the same name count as one room; a room needs
another one whose header it includes, or whose source defines a function or a constant that it uses. The second kind is
what includes alone do not show: a header that declares what another source defines."""
import os
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)
FUNCTION = re.compile(r"^(?!static\b|typedef\b|return\b|else\b)[A-Za-z_][\w \t*\n]*?\b([A-Za-z_]\w+)\([^;{}]*\)\s*\{", re.M)
CONSTANT = re.compile(r"^const\s[\w \t*]*?\b([A-Za-z_]\w+)(?:\[[^\]]*\])?\s*=", re.M)
WORD = re.compile(r"\b[A-Za-z_]\w+\b")


def room_of(path):
    return os.path.splitext(path)[0]


def bodies(text):
    """What stands in braces: in a header, its inline functions; declarations are no use of what they declare."""
    depth, start, parts = 0, 0, []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            if depth == 0:
                start = match.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                parts.append(text[start:match.start()])
    return "\n".join(parts)


def include_target(path, header, files):
    """The file that the include means: beside the including one, or from a root that the names share."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), header))
    if near in files:
        return near
    ends = [f for f in files if f.endswith("/" + header)]
    return ends[0] if len(ends) == 1 else None


def read_rooms(files):
    """path -> text gives room -> {needed room: why}."""
    plain = {path: COMMENT.sub(" ", text) for path, text in files.items()}
    defined_in = {}
    for path, text in plain.items():
        if path.endswith(".c"):
            for name in FUNCTION.findall(text) + CONSTANT.findall(text):
                defined_in[name] = None if name in defined_in else path  # of two programs: neither
    needs = {}
    for path, text in files.items():
        mine = needs.setdefault(room_of(path), {})
        for header in INCLUDE.findall(text):
            target = include_target(path, header, files)
            if target is not None:
                mine.setdefault(room_of(target), 'includes "%s"' % header)
        for name in set(WORD.findall(plain[path] if path.endswith(".c") else bodies(plain[path]))):
            if defined_in.get(name) is not None:
                mine.setdefault(room_of(defined_in[name]), "uses %s" % name)
        mine.pop(room_of(path), None)
    return needs


def circles(needs):
    """The sets of rooms that need each other, largest first (Tarjan 1972, without recursion)."""
    number, low, stack, found = {}, {}, [], []
    for root in sorted(needs):
        if root in number:
            continue
        work = [(root, iter(sorted(needs[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            room, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    work.append((other, iter(sorted(needs.get(other, {})))))
                    break
                if other in stack:
                    low[room] = min(low[room], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[room])
                if low[room] == number[room]:
                    circle = stack[stack.index(room):]
                    del stack[stack.index(room):]
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found, key=len, reverse=True)


def describe(circle, needs):
    """One line: each room with what ties it to the others."""
    return "; ".join("%s %s (%s)" % (os.path.basename(room), why, os.path.basename(other))
                     for room in circle for other, why in sorted(needs[room].items()) if other in circle)
