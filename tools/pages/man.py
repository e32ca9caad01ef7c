"""Pages of the manual, in the macros of man(7)."""
import re
import textwrap

EXAMPLE = "Example: "
EXIT_STATUS = [("0", "success"), ("1", "bad input, an invalid result, or a --deadline that was missed"), ("2", "bad usage")]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text[:1] == "." else text


def finish(lines):
    """The text of a page: no line too long, no paragraph at the beginning of a section, and words that are no macros."""
    out, is_verbatim = [], False
    for before, line in zip([""] + lines, lines):
        is_verbatim = line == ".EX" or is_verbatim and line != ".EE"
        if line == ".PP" and out and out[-1].startswith(".SH"):
            continue
        if is_verbatim or line.startswith(".") or before == ".TP":
            out.append(line)
        else:
            parts = textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)
            out += [part if part[0] != "." else "\\&" + part for part in parts]
    return "\n".join(out) + "\n"


def bold(text):
    return "\\fB" + escape(text) + "\\fR"


def heading(title):
    return ".SH " + title


def tagged(left, right):
    return [".TP", left, escape(right)]


def example(line):
    return [".PP", ".RS 4", ".EX", escape(line), ".EE", ".RE"]


def prose(text):
    """As wrap_text reads it: lines flow, indented ones are rows of a table, empty ones part paragraphs."""
    out, is_open = [], False
    for line in text.splitlines():
        row = re.match(r" +(\S.*?)  +(\S.*)$", line)
        if line.startswith(EXAMPLE):
            out += example(line[len(EXAMPLE):])
        elif row:
            out += tagged(bold(row.group(1)), row.group(2))
        elif line.startswith(" "):
            out += example(line.strip())
        elif line:
            out += ([] if is_open else [".PP"]) + [escape(line)]
        is_open = bool(line) and not line.startswith((" ", EXAMPLE))
    return out


def option_lines(options):
    out = []
    for option in options:
        letter = bold("-" + option.letter) + ", " if option.letter else ""
        out += tagged(letter + bold("--" + option.name) + italic(option.argument), option.help)
    return out


def italic(operands):
    """Operands behind a name; long ones break behind a bar."""
    return " \\fI" + escape(operands).replace("|", "|\\:") + "\\fR" if operands else ""


def synopsis(words, operands):
    return [".PP", bold(words) + italic(operands) + " [\\fIoptions\\fR]"]


def title(name, version, date, about):
    name = name.replace(" ", "-")
    return [f'.TH {name.upper()} 1 "{date}" "clotho {version}" "Clotho"', heading("NAME"), f"{escape(name)} \\- {escape(about)}"]


def references(names):
    lines = [heading("SEE ALSO")]
    for i, name in enumerate(names):
        lines.append(f".BR {escape(name)} (1){',' if i + 1 < len(names) else ''}")
    return lines


def body(page, program):
    out = prose(page.about)
    notes = prose(page.notes)
    return out, option_lines(page.options), notes, synopsis(program + " " + page.name if page.name else program, page.operands)


def of_verb(page, version, date):
    """clotho-VERB(1): the verb, then each of its actions."""
    lines = title("clotho " + page.name, version, date, page.summary)
    parts = [part for part in [page] + page.actions if part.options]
    lines.append(heading("SYNOPSIS"))
    for part in parts:
        lines += body(part, "clotho")[3]
    for part in parts:
        about, options, notes, _ = body(part, "clotho")
        if part is page:
            lines += [heading("DESCRIPTION"), *about, heading("OPTIONS"), *options]
            lines += [heading("NOTES"), *notes] if notes else []
        else:
            lines += [heading('"CLOTHO ' + escape(part.name.upper()) + '"'), *about, *options, *notes]
    lines += [heading('"EXIT STATUS"')]
    for code, meaning in EXIT_STATUS:
        lines += tagged(bold(code), meaning)
    return lines + references(["clotho"])


def of_command(command, version, date):
    lines = title("clotho", version, date, "plans and runs task graphs on heterogeneous multicore systems")
    lines += [heading("SYNOPSIS"), ".PP", bold("clotho") + " \\fIVERB\\fR [\\fIoperands\\fR] [\\fIoptions\\fR]", heading("DESCRIPTION")]
    lines += [".PP", escape("Plans and runs task graphs. Each verb has a page of its own, and"), bold("clotho help") + " \\fIVERB\\fR",
              escape("prints its options. With --json a verb prints one JSON object per result and nothing else."),
              bold("clotho help --json"), escape("describes all verbs and options."), heading("VERBS")]
    for verb in command.verbs:
        lines += tagged(bold(verb.name) + italic(verb.usage), verb.summary)
    lines += [heading('"EXIT STATUS"')]
    for code, meaning in EXIT_STATUS:
        lines += tagged(bold(code), meaning)
    return lines + references(["clotho-" + verb.name for verb in command.verbs if verb.options or verb.actions])


def of_single(page, version, date):
    """A program of one verb."""
    name = page.name
    page.name = ""
    about, options, notes, head = body(page, name)
    page.name = name
    lines = title(name, version, date, "one rank of a run over several machines")
    lines += [heading("SYNOPSIS"), *head, heading("DESCRIPTION"), *about, heading("OPTIONS"), *options]
    lines += [heading("NOTES"), *notes] if notes else []
    return lines + references(["clotho", "clotho-run", "mpirun"])
