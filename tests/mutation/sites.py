"""Places in C source where a small fault can be planted, and what the fault is.

Only the bodies of functions are looked at: the style of this project puts their braces into the first column. Comments,
strings, preprocessor lines, asserts and the arguments of clo_fail are left out. A change stays on one line, so that no line
number moves, and never touches the call that ends a process or deletes a file.
"""
import dataclasses
import pathlib
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<text>L?"(?:\\.|[^"\\\n])*"|L?'(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# What follows these in brackets is not changed: tests do not look at the words of a message, and an assert is itself a test.
QUIET = {"assert", "static_assert", "_Static_assert", "clo_fail", "sizeof", "offsetof", "__attribute__", "alignof", "_Alignof"}
# A statement with one of these is not removed or turned round: the fault could hurt more than the test that runs it.
DANGEROUS = {"kill", "tgkill", "pthread_kill", "unlink", "rename", "remove", "mlockall", "sched_setscheduler", "setrlimit"}
KEYWORDS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "goto", "break", "continue", "struct",
            "union", "enum", "static", "const", "typedef", "extern", "register", "inline", "_Atomic", "_Alignas", "volatile"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
SWAPS = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
         "+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("/",), "+=": ("-=",), "-=": ("+=",), "++": ("--",),
         "--": ("++",), "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "|=": ("&=",), "&=": ("|=",),
         "*=": ("/=",), "/=": ("*=",)}
KIND = {**dict.fromkeys(("<", "<=", ">", ">="), "boundary"), **dict.fromkeys(("==", "!="), "equality"),
        **dict.fromkeys(("&&", "||"), "logic")}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclasses.dataclass(frozen=True)
class Site:
    """One fault: bytes start to end of the file become `text`. The first four fields say which one for ever."""
    file: str
    function: str
    line_text: str
    change: str
    kind: str
    line: int
    first_line: int
    start: int
    end: int
    text: str

    @property
    def key(self) -> tuple:
        return self.file, self.function, self.line_text, self.change

    @property
    def module(self) -> str:
        return self.file.split("/")[1]


def tokens_of(source: str, start: int, end: int) -> list:
    found, at = [], start
    while at < end:
        match = TOKEN.match(source, at, end)
        if match.lastgroup != "skip":
            found.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    return found


def bodies(source: str):
    """(name, start, end) of each function: from '{' to '}' in the first column."""
    for match in re.finditer(r"^\{\n(.*?)^\}", source, re.DOTALL | re.MULTILINE):
        head = re.sub(r"/\*.*?\*/|//[^\n]*", "", source[:match.start()].rsplit("\n\n", 1)[-1], flags=re.DOTALL)
        names = re.findall(r"\b(\w+)\s*\(", head)
        names = [name for name in names if name not in QUIET]
        if names:
            yield names[0], match.start(1), match.end(1)


def closing(tokens: list, at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i].text in "([{"
        depth -= tokens[i].text in ")]}"
        if depth == 0:
            return i
    return len(tokens) - 1


def quiet(tokens: list) -> set:
    """The indices of tokens that stay as they are."""
    kept = set()
    for i, token in enumerate(tokens[:-1]):
        if token.text in QUIET and tokens[i + 1].text == "(":
            kept.update(range(i, closing(tokens, i + 1) + 1))
    return kept


def is_binary(tokens: list, i: int) -> bool:
    """Whether the sign at i stands between two values, rather than before one."""
    if i == 0:
        return False
    before = tokens[i - 1]
    if before.kind in ("number", "text"):
        return True
    if before.kind == "name":
        return before.text not in KEYWORDS and not looks_like_type(tokens, i)
    if before.text == ")":
        return not is_cast(tokens, i - 1)
    return before.text == "]"


def looks_like_type(tokens: list, i: int) -> bool:
    """Whether `name *name` at i begins a declaration."""
    return tokens[i].text == "*" and (i < 2 or tokens[i - 2].text in ";{}(," or tokens[i - 2].text in KEYWORDS)


def is_cast(tokens: list, close: int) -> bool:
    depth = 0
    for i in range(close, -1, -1):
        depth += tokens[i].text == ")"
        depth -= tokens[i].text == "("
        if depth == 0:
            inside = [token.text for token in tokens[i + 1:close]]
            called = i > 0 and tokens[i - 1].kind == "name" and tokens[i - 1].text not in KEYWORDS
            types = all(re.fullmatch(r"\w+|\*", text) for text in inside)
            return not called and types and (len(inside) > 1 and inside[-1] == "*" or re.search(
                r"_t$|^(int|char|long|double|float|unsigned|void|size|clo_\w+|struct)$", inside[-1] if inside else "") is not None)
    return False


def number_changes(text: str):
    match = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if match and not (len(match[1]) > 1 and match[1][0] == "0"):
        value = int(match[1])
        yield f"{value + 1}{match[2]}"
        if value > 0:
            yield f"{value - 1}{match[2]}"


def tokens_changed(tokens: list, kept: set):
    """(kind, first token, last token, new text) of changes to single tokens."""
    for i, token in enumerate(tokens):
        if i in kept:
            continue
        if token.kind == "number":
            for text in number_changes(token.text):
                yield "constant", token, token, text
        elif token.text in ("true", "false"):
            yield "constant", token, token, "false" if token.text == "true" else "true"
        elif token.text in ("break", "continue") and tokens[i + 1].text == ";":
            yield "removed", token, token, ""
        elif token.text == "!" and token.kind == "mark":
            yield "negation", token, token, ""
        elif token.kind == "mark" and token.text in SWAPS:
            if token.text in ("+", "-", "*", "&") and not is_binary(tokens, i):
                continue
            for text in SWAPS[token.text]:
                yield KIND.get(token.text, "arithmetic"), token, token, text


def conditions_turned(tokens: list, kept: set, source: str):
    for i, token in enumerate(tokens[:-1]):
        if token.text in ("if", "while") and tokens[i + 1].text == "(" and i not in kept:
            close = closing(tokens, i + 1)
            inside = source[tokens[i + 1].end:tokens[close].start]
            if not DANGEROUS & {t.text for t in tokens[i:close + 40]}:
                yield "negation", tokens[i + 1], tokens[close], f"(!({inside}))"


def statements_removed(tokens: list, kept: set):
    """An assignment or a call that is a statement of its own."""
    begins, depth = True, 0
    for i, token in enumerate(tokens):
        if begins and i not in kept and (token.kind == "name" and token.text not in KEYWORDS or token.text in ("*", "++", "--")):
            end = i
            while end < len(tokens) and tokens[end].text not in (";", "}"):
                end = closing(tokens, end) + 1 if tokens[end].text in ("(", "[", "{") else end + 1
            words = [t.text for t in tokens[i:end]]
            is_declaration = len(words) > 1 and tokens[i + 1].kind == "name" or re.match(r"\w+ \*+ ?\w+ (=|$|,)", " ".join(words))
            does = set(words) & (ASSIGN | {"++", "--"}) or "(" in words
            if end < len(tokens) and tokens[end].text == ";" and does and not is_declaration and not DANGEROUS & set(words):
                yield "removed", token, tokens[end - 1], ""
        depth += token.text in ("(", "[")
        depth -= token.text in (")", "]")
        begins = depth == 0 and (token.text in (";", "{", "}", "else", "do") or
                                 token.text == ")" and closes_condition(tokens, i))


def closes_condition(tokens: list, close: int) -> bool:
    depth = 0
    for i in range(close, -1, -1):
        depth += tokens[i].text == ")"
        depth -= tokens[i].text == "("
        if depth == 0:
            return i > 0 and tokens[i - 1].text in ("if", "for", "while")
    return False


def arguments_swapped(tokens: list, kept: set, source: str):
    """f(a, b) becomes f(b, a), for the first two arguments."""
    for i, token in enumerate(tokens[:-1]):
        if token.kind != "name" or token.text in KEYWORDS or tokens[i + 1].text != "(" or i in kept:
            continue
        if token.text in DANGEROUS or i > 0 and (tokens[i - 1].kind == "name" and tokens[i - 1].text not in KEYWORDS):
            continue
        close, commas, depth = closing(tokens, i + 1), [], 0
        for j in range(i + 2, close):
            depth += tokens[j].text in ("(", "[", "{")
            depth -= tokens[j].text in (")", "]", "}")
            if tokens[j].text == "," and depth == 0:
                commas.append(j)
        if not commas:
            continue
        second_end = commas[1] if len(commas) > 1 else close
        first = source[tokens[i + 2].start:tokens[commas[0] - 1].end]
        second = source[tokens[commas[0] + 1].start:tokens[second_end - 1].end]
        if first != second:
            yield "swapped", tokens[i + 2], tokens[second_end - 1], f"{second}, {first}"


def sites_of(root: pathlib.Path, path: pathlib.Path) -> list:
    """Every fault that can be planted into one file."""
    source = path.read_text()
    lines = source.split("\n")
    file = path.relative_to(root).as_posix()
    found, seen = [], {}
    for function, start, end in bodies(source):
        tokens = tokens_of(source, start, end)
        kept = quiet(tokens)
        changes = [*tokens_changed(tokens, kept), *conditions_turned(tokens, kept, source), *statements_removed(tokens, kept),
                   *arguments_swapped(tokens, kept, source)]
        for kind, first, last, text in changes:
            before = source[first.start:last.end]
            line = source.count("\n", 0, first.start) + 1
            if kind in ("swapped", "negation", "removed"):  # a change may take several lines: none is lost
                text = " ".join(text.split()) + "\n" * before.count("\n")
            elif "\n" in before:
                continue
            shown = f"{kind}: {' '.join(before.split())} -> {' '.join(text.split())}".rstrip()
            where = (function, lines[line - 1].strip(), shown)
            seen[where] = seen.get(where, 0) + 1
            if seen[where] > 1:
                shown += f" #{seen[where]}"
            found.append(Site(file, function, lines[line - 1].strip(), shown, kind, line,
                              source.count("\n", 0, start) + 1, first.start, last.end, text))
    return found
