#!/usr/bin/env python3
"""Doxygen's view of a public header (INPUT_FILTER): our comments are plain ones above what they document, or behind it on its line.

Rows of a name and a text become a table, other indented lines stay as they are. A call that a text names is a link."""
import glob
import html
import os
import re
import sys

CALL = re.compile(r"^CLO_API\b[^;{]*?\b(clo_\w+)\s*\(", re.M)
COMMENT = re.compile(r"/\*(?!\*)(.*?)\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
ROW = re.compile(r"( +)(?:(\S(?:.*?\S)?)  +(\S.*)|(CLO_\w+))$")


def known_calls(path):
    folder = os.path.dirname(os.path.abspath(path))
    names = set()
    for header in glob.glob(os.path.join(folder, "*.h")):
        with open(header, encoding="utf-8") as file:
            names.update(CALL.findall(file.read()))
    return names


def escape(text, calls):
    text = html.escape(text, quote=False).replace("\\", "\\\\").replace("@", "\\@").replace("#", "\\#").replace("%", "\\%").replace("::", "\\::")
    return re.sub(r"\bclo_\w+(?!\()", lambda name: name.group() + ("()" if name.group() in calls else ""), text)


def rows_of(lines):
    """Pairs (name, text) if that is what the lines are, else None."""
    rows, margin = [], None
    for line in lines:
        row = ROW.match(line)
        indent = len(line) - len(line.lstrip())
        if row and (margin is None or indent == margin):
            margin = indent
            rows.append([row.group(2) or row.group(4), row.group(3) or ""])
        elif rows and indent > margin:
            rows[-1][1] += " " + line.strip()
        else:
            return None
    return rows


def shown(lines, calls):
    """Indented lines."""
    rows = rows_of(lines)
    if rows is None:
        return ["@verbatim"] + lines + ["@endverbatim"]
    cells = ["<tr><td>%s</td><td>%s</td></tr>" % (escape(name, calls), escape(text, calls)) for name, text in rows]
    return ["<table>"] + cells + ["</table>"]


def body(text, calls):
    lines = [re.sub(r"^\s*\* ?", "", line) if number > 0 else line.lstrip() for number, line in enumerate(text.rstrip().splitlines())]
    out, block = [], []
    for line in lines + [""]:
        if line.startswith("  "):
            block.append(line)
            continue
        if block:
            out += shown(block, calls)
            block = []
        out.append(escape(line, calls))
    return "\n".join(out[:-1])


def replace(match, text, calls, is_first):
    if match.group(1) is None:
        return match.group()
    before = text[:match.start()].rpartition("\n")[2]
    mark = "/**< " if before.strip() and not before.rstrip().endswith(("{", "(", "\\")) else "/** "
    if match.group(1).startswith(" ---"):  # a heading between parts
        return ""
    return mark + ("@file\n" if is_first else "") + body(match.group(1), calls) + " */"


def shared(text):
    """Calls below each other, without a line between, share the comment above the first: each gets it."""
    pattern = re.compile(r"(/\*\*(?!<)(?:(?!\*/).)*\*/\n)(CLO_API\b[^;{]*;\n)(?=CLO_API\b)", re.S)
    count = 1
    while count:
        text, count = pattern.subn(r"\1\2 \1", text)  # with a blank, that it is found again but once
        text = text.replace("\n /**", "\n/**")
    return text


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    calls, begin = known_calls(path), COMMENT.search(text)
    print(shared(COMMENT.sub(lambda match: replace(match, text, calls, match.start() == begin.start()), text)), end="")


if __name__ == "__main__":
    main()
