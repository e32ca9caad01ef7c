"""What `clotho help --json` says, as objects."""
import dataclasses
import json
import re
import subprocess

# Operands that `clotho list` knows, and arguments that are files or folders. What is not named here is completed as a file where the
# table of the command says that it is one, else not at all.
LISTS = {"KIND": "families", "SPEC": "platforms", "MODEL": "models"}
FILES, FOLDERS, WORDS, LIST, NOTHING = "files", "folders", "words", "list", "nothing"


@dataclasses.dataclass
class Value:
    """What may stand in a place: files, folders, words, or the names of a list of the command (with files beside)."""
    kind: str
    words: tuple = ()
    list: str = ""
    with_files: bool = False


def value_of(argument, is_file, names):
    if names:
        return Value(LIST, list=names, with_files=is_file)
    if is_file or re.match(r"(F|FILE)(\.|$)", argument):
        return Value(FILES)
    if argument == "DIR":
        return Value(FOLDERS)
    words = argument.split("|")
    if len(words) > 1 and all(re.match(r"[a-z]", word) for word in words):
        return Value(WORDS, tuple(re.sub(r"[A-Z].*", "", word) for word in words))  # "poisson:S": what stands before S
    return Value(NOTHING)


@dataclasses.dataclass
class Option:
    name: str
    letter: str
    argument: str
    kind: str
    help: str
    value: Value
    is_repeated: bool

    @classmethod
    def read(cls, said):
        is_file = said["kind"] in ("input", "output")
        value = value_of(said["argument"] or "", is_file, said["list"]) if said["argument"] else Value(NOTHING)
        return cls(said["name"], said["letter"] or "", said["argument"] or "", said["kind"], said["help"], value, said["kind"] == "list")

    def words(self):
        return ["--" + self.name] + (["-" + self.letter] if self.letter else [])


@dataclasses.dataclass
class Page:
    """A verb, or an action of one ("platform show")."""
    name: str
    summary: str = ""
    usage: str = ""  # operands in a word, as in the list of verbs
    operands: str = ""
    about: str = ""
    notes: str = ""
    options: list = dataclasses.field(default_factory=list)
    actions: list = dataclasses.field(default_factory=list)  # pages

    def fill(self, said):
        self.operands, self.about, self.notes = said["operands"], said["about"], said["notes"] or ""
        self.options = [Option.read(option) for option in said["options"]]

    def operand(self):
        bare = self.operands.strip("[].")
        if not bare:
            return Value(NOTHING)
        value = value_of(bare, False, LISTS.get(bare, ""))
        value.with_files = bare in ("SPEC", "MODEL")
        return Value(FILES) if value.kind == NOTHING else value


@dataclasses.dataclass
class Command:
    name: str
    version: str
    verbs: list  # pages

    def pages(self):
        """Each page that has options, with its words behind the name of the command."""
        for verb in self.verbs:
            if verb.options:
                yield verb
            yield from verb.actions


def lines_of(program, *words):
    said = subprocess.run([program, *words], capture_output=True, text=True, encoding="utf-8", check=True, timeout=60).stdout
    return [json.loads(line) for line in said.splitlines()]


def read(program):
    first, *rest = lines_of(program, "help", "--json")
    verbs = {verb["name"]: Page(verb["name"], verb["summary"], verb["operands"]) for verb in first["verbs"]}
    pages = dict(verbs)
    for said in rest:
        if "actions" in said:
            verb = verbs[said["name"]]
            for action in said["actions"]:
                pages[verb.name + " " + action["name"]] = page = Page(verb.name + " " + action["name"], action["summary"])
                verb.actions.append(page)
        else:
            pages[said["name"]].fill(said)
    return Command(first["name"], first["version"], list(verbs.values()))


def read_single(program, name):
    """A program of one verb, which knows `--help --json` only."""
    said, = lines_of(program, "--help", "--json")
    page = Page(name)
    page.fill(said)
    return page
