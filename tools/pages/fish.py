"""The completions of fish."""
from description import FILES, FOLDERS, LIST, WORDS

FRAME = """# fish completion of clotho, made by tools/pages; do not edit.

# True if the words before the cursor begin with these verbs, and not with a longer one that is named behind --but.
function __clotho_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l but 0
    set -l at 1
    for word in $argv
        if test $word = --but
            set but 1
        else if test $but = 1
            contains -- "$words[$at]" $word; and return 1
        else
            test "$words[$at]" = $word; or return 1
            set at (math $at + 1)
        end
    end
    return 0
end

# True if `count` words stand before the cursor, with the command.
function __clotho_words --argument-names count
    test (count (commandline -opc)) -eq $count
end

function __clotho_list --argument-names name
    clotho list $name 2>/dev/null | string replace -r '^(\\S+)\\s+' '$1\\t'
end

complete -c clotho -f
"""


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def value(of):
    if of.kind == LIST:
        return ("-F " if of.with_files else "") + f"-a '(__clotho_list {of.list})'"
    if of.kind == WORDS:
        return "-a " + quote(" ".join(of.words))
    return {FILES: "-F", FOLDERS: "-a '(__fish_complete_directories)'"}.get(of.kind, "")


def write(command):
    out = []
    for verb in command.verbs:
        out.append(f"complete -c clotho -n '__clotho_words 1' -a {verb.name} -d {quote(verb.summary)}")
        out.append(f"complete -c clotho -n '__clotho_words 2; and __clotho_at help' -a {verb.name} -d {quote(verb.summary)}")
        for action in verb.actions:
            out.append(f"complete -c clotho -n '__clotho_words 2; and __clotho_at {verb.name}' -a {action.name.split()[-1]} -d {quote(action.summary)}")
    for page in command.pages():
        but = "".join(" --but " + action.name.split()[-1] for action in page.actions)
        where = f"complete -c clotho -n '__clotho_at {page.name}{but}'"
        for option in page.options:
            letter = f" -s {option.letter}" if option.letter else ""
            takes = (" -r " + value(option.value)).rstrip() if option.argument else ""
            out.append(f"{where} -l {option.name}{letter}{takes} -d {quote(option.help)}")
        if value(page.operand()):
            out.append(f"{where} {value(page.operand())}")
    return FRAME + "\n".join(out) + "\n"
