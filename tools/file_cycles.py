"""Which files need each other in a circle. A header and the source of the same name count as one room; a room needs
another one whose header it includes, or whose source defines a function or a constant that it uses. The second kind is
what includes alone do not show: a header that declares what another source defines."""
import os
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)
SOURCE = (".c", ".cpp")
FUNCTION = re.compile(r"^(?!static\b|typedef\b|return\b|else\b)[A-Za-z_][\w \t*\n]*?\b([A-Za-z_]\w*)\([^;{}]*\)\s*\{", re.M)
CONSTANT = re.compile(r"^const\s[\w \t*]*?\b([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*=", re.M)
LINKAGE = re.compile(r"\bextern\s*\{")  # of extern "C", whose string is gone
WORD = re.compile(r"(?<!\.)(?<!->)\b[A-Za-z_]\w*\b")  # a member of that name is something else


def room_of(path):
    return os.path.splitext(path)[0]


def bodies(text):
    """The inline functions of a header: declarations and members are no use of what has the name."""
    depth, start, parts = 0, 0, []
    text = LINKAGE.sub(" ", text)
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            if depth == 0:
                start = match.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0 and text[:start].rstrip().endswith(")"):
                parts.append(text[start:match.start()])
    return "\n".join(parts)


def include_target(path, header, root, files):
    """The file that the include means: beside the including one, from the root, or the only one whose path ends so."""
    for place in (os.path.dirname(path), root):
        near = os.path.normpath(os.path.join(place, header))
        if near in files:
            return near
    ends = [f for f in files if f.endswith("/" + header)]
    return ends[0] if len(ends) == 1 else None


def read_definitions(plain):
    """name -> the source that defines it; None where several programs have one of this name."""
    defined_in = {}
    for path, text in plain.items():
        if path.endswith(SOURCE):
            for name in FUNCTION.findall(text) + CONSTANT.findall(text):
                defined_in[name] = None if name in defined_in else path
    return defined_in


def read_rooms(files, root=""):
    """path -> text gives room -> {needed room: (verb, what)}. `root`: the folder from which headers are named."""
    plain = {path: COMMENT.sub(" ", text) for path, text in files.items()}
    defined_in = read_definitions(plain)
    needs = {}
    for path, text in files.items():
        mine = needs.setdefault(room_of(path), {})
        for header in INCLUDE.findall(text):
            target = include_target(path, header, root, files)
            if target is not None:
                mine.setdefault(room_of(target), ("includes", os.path.basename(header)))
        for name in sorted(set(WORD.findall(plain[path] if path.endswith(SOURCE) else bodies(plain[path])))):
            if defined_in.get(name) is not None:
                mine.setdefault(room_of(defined_in[name]), ("uses", name))
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


def shortest_way(circle, needs):
    """The shortest path around within the circle: a list of rooms, the first one again at its end."""
    best = None
    for start in circle:
        came_from, row = {}, [start]
        while row and start not in came_from:  # breadth first; every room enters once
            reached = []
            for room in row:
                for other in sorted(needs[room]):
                    if other in circle and other not in came_from:
                        came_from[other] = room
                        reached.append(other)
            row = reached
        way = [start, came_from[start]]
        while way[-1] != start:
            way.append(came_from[way[-1]])
        if best is None or len(way) < len(best):
            best = way[::-1]
    return best


def describe(circle, needs):
    """One line: who is in the circle, and the shortest path around it with what ties one file to the next."""
    names = [os.path.basename(room) for room in circle]
    ties = []
    way = shortest_way(circle, needs)
    for room, other in zip(way, way[1:]):
        verb, what = needs[room][other]
        ties.append("%s %s %s" % (os.path.basename(room), verb, what if verb == "includes" else
                                  "%s(%s)" % (what, os.path.basename(other))))
    return "%s and %s need each other in a circle: %s" % (", ".join(names[:-1]), names[-1], ", ".join(ties))
