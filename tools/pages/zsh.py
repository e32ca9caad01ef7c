"""The completions of zsh."""
import shlex

from description import FILES, FOLDERS, LIST, WORDS

FRAME = r"""#compdef clotho
# zsh completion of clotho, made by tools/pages; do not edit.

# The names of a list of the command; the list is the last word, as _alternative puts words for compadd before it.
_clotho_list() {
    local -a names
    names=(${(f)"$(_call_program names ${(q)program} list $argv[-1] 2>/dev/null)"})
    compadd "${(@)argv[1,-2]}" -- ${names%% *}
}
_clotho_list_or_files() { _alternative "names:name:_clotho_list $1" 'files:file:_files' }

_clotho() {
    local curcontext=$curcontext program=$words[1] where
    typeset -A opt_args
    if (( CURRENT > 2 )) && [[ $words[2] == help ]]; then
        shift words
        (( CURRENT-- ))
    fi
    if (( CURRENT == 2 )); then
        local -a verbs
        verbs=(@VERBS@)
        _describe -t verbs verb verbs
        return
    fi
    where=$words[2]
    case $where in
@ACTIONS@
    esac
    case $where in
@PAGES@
    esac
}

_clotho "$@"
"""


def escape(text):
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def action(value):
    if value.kind == LIST:
        return f"{{_clotho_list{'_or_files' if value.with_files else ''} {value.list}}}"
    if value.kind == WORDS:
        return "(" + " ".join(escape(word) for word in value.words) + ")"
    return {FILES: "_files", FOLDERS: "_files -/"}.get(value.kind, "")


def specifications(option):
    words = option.words()
    value = f":{escape(option.argument)}:{action(option.value)}" if option.argument else ""
    many = "*" if option.is_repeated else ""
    text = f"[{escape(option.help)}]{value}"
    if len(words) == 1:
        return [shlex.quote(many + words[0] + ("=" if option.argument else "") + text)]
    lead = many or "(" + " ".join(words) + ")"
    return [shlex.quote(lead + word + ("=" if option.argument and word.startswith("--") else "+" if option.argument else "") + text)
            for word in words]


def described(name, text):
    return shlex.quote(name + ":" + text.replace(":", "\\:"))


def write(command):
    actions, pages = [], []
    for verb in command.verbs:
        if not verb.actions:
            continue
        names = [part.name.split()[-1] for part in verb.actions]
        entries = " ".join(described(part.name.split()[-1], part.summary) for part in verb.actions)
        take = "            where=\"$where $words[3]\"\n            shift words\n            (( CURRENT-- ))"
        actions += [f"    {verb.name})", "        if (( CURRENT == 3 )); then", f"            local -a actions=({entries})",
                    "            _describe -t actions action actions" + ("" if verb.options else "\n            return"),
                    f"        elif (( ${{+words[3]}} )) && [[ $words[3] == ({'|'.join(names)}) ]]; then", take, "        fi", "        ;;"]
    for page in command.pages():
        lines = [line for option in page.options for line in specifications(option)]
        operand = page.operand()
        if action(operand):
            lines.append(shlex.quote(f"*:{escape(page.operands)}:{action(operand)}"))
        pages += [f"    {shlex.quote(page.name)})", "        shift words", "        (( CURRENT-- ))", "        _arguments -s \\"]
        pages += ["            " + line + " \\" for line in lines[:-1]] + ["            " + lines[-1], "        ;;"]
    verbs = " ".join(described(verb.name, verb.summary) for verb in command.verbs)
    return FRAME.replace("@VERBS@", verbs).replace("@ACTIONS@", "\n".join(actions)).replace("@PAGES@", "\n".join(pages))
