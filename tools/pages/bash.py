"""The completions of bash. They need nothing of the package bash-completion."""
import shlex

from description import FILES, FOLDERS, LIST, WORDS

FRAME = r"""# bash completion of clotho, made by tools/pages; do not edit.

# The names of a list of the command.
_clotho_list() { "${COMP_WORDS[0]}" list "$1" 2>/dev/null | while read -r name _; do printf '%s\n' "$name"; done; }

# _clotho_value KIND WORDS: what may stand in this place. Files are completed by readline, which knows of quotes.
_clotho_value() {
    case $1 in
    words) _clotho_reply "$2" ;;
    list) _clotho_reply "$(_clotho_list "$2")" && compopt +o default 2>/dev/null ;;
    list-files) _clotho_reply "$(_clotho_list "$2")" ;;
    folders) compopt -o dirnames +o default 2>/dev/null ;;
    files) ;;
    *) compopt +o default 2>/dev/null ;;
    esac
}

# Those of the words that begin as what is typed; of one with colons or an equals sign, readline asks for what stands behind the last.
_clotho_reply() {
    local word
    while IFS= read -r word; do
        [[ -n $word && $word == "$typed"* ]] && COMPREPLY+=("${word#"$passed"}")
    done <<<"${1// /$'\n'}"
    return 0
}

_clotho() {
    local line=${COMP_LINE:0:COMP_POINT} typed before verb='' action='' passed='' words=() i
    COMPREPLY=()
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    [[ ${#words[@]} -gt 1 ]] || return 0 # the cursor stands in the name of the command
    typed=${words[-1]} before=${words[-2]}
    for ((i = 1; i < ${#words[@]} - 1; i++)); do # the verb and its action stand before everything else
        case $i in 1) verb=${words[1]} ;; 2) action=${words[2]} ;; esac
    done
    [[ $verb == help ]] && { verb=$action action=''; [[ ${#words[@]} -gt 3 ]] || verb=''; [[ -n $verb ]] && return; }
    if [[ $typed == --*=* ]]; then
        before=${typed%%=*} typed=${typed#*=}
    fi
    [[ $typed == *:* && $COMP_WORDBREAKS == *:* ]] && passed=${typed%:*}:
    case $verb in
    '') _clotho_value words @VERBS@; return ;;
@ACTIONS@
    esac
    case "$verb${action:+ $action}" in
@PAGES@
    esac
}
complete -o default -F _clotho clotho
"""


def call(value):
    if value.kind == LIST:
        return f"_clotho_value {'list-files' if value.with_files else 'list'} {value.list}"
    if value.kind == WORDS:
        return "_clotho_value words " + shlex.quote(" ".join(value.words))
    return "_clotho_value " + {FILES: "files", FOLDERS: "folders"}.get(value.kind, "nothing")


def of_page(page):
    pattern = shlex.quote(page.name)
    out = [f"    {pattern})", "        case $before in"]
    for option in page.options:
        if option.argument:
            out.append(f"        {' | '.join(option.words())}) {call(option.value)}; return ;;")
    words = shlex.quote(" ".join("--" + option.name for option in page.options))
    out += ["        esac", f"        if [[ $typed == -* ]]; then _clotho_value words {words}; else {call(page.operand())}; fi", "        ;;"]
    return out


def write(command):
    actions, pages = [], []
    for verb in command.verbs:
        names = [action.name.split()[-1] for action in verb.actions]
        if not names:
            continue
        quoted = shlex.quote(" ".join(names))
        if verb.options:  # actions beside operands of the verb's own: another second word is one of these
            actions += [f"    {verb.name})", f"        [[ ' '{quoted}' ' == *\" $action \"* ]] || action=''",
                        f"        [[ ${{#words[@]}} -gt 3 || $typed == -* ]] || _clotho_value words {quoted}", "        ;;"]
        else:
            actions += [f"    {verb.name}) [[ -n $action ]] || {{ _clotho_value words {quoted}; compopt +o default 2>/dev/null; return; }} ;;"]
    single = [verb.name for verb in command.verbs if not verb.actions]
    actions.append(f"    {' | '.join(single)}) action='' ;;")
    for page in sorted(command.pages(), key=lambda page: -page.name.count(" ")):
        pages += of_page(page)
    text = FRAME.replace("@VERBS@", shlex.quote(" ".join([verb.name for verb in command.verbs] + ["--help", "--version"])))
    return text.replace("@ACTIONS@", "\n".join(actions)).replace("@PAGES@", "\n".join(pages))
