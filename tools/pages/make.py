#!/usr/bin/env python3
"""Writes the pages of the manual and the completions. usage: make.py BIN OUT --date YYYY-MM-DD

BIN is the folder of the commands. OUT gets man/*.1, bash/clotho, zsh/_clotho and fish/clotho.fish, and loses what it had of these; a
page of a program that BIN lacks is left out."""
import argparse
import pathlib
import sys

import bash
import description
import fish
import man
import zsh

SINGLE = ("clotho-mpi", "clotho-mpich")


def files(programs, date):
    command = description.read(programs / "clotho")
    yield "bash/clotho", bash.write(command)
    yield "zsh/_clotho", zsh.write(command)
    yield "fish/clotho.fish", fish.write(command)
    pages = {"clotho": man.of_command(command, command.version, date)}
    for verb in command.verbs:
        if verb.options or verb.actions:
            pages["clotho-" + verb.name] = man.of_verb(verb, command.version, date)
    for name in SINGLE:
        if (programs / name).exists():
            pages[name] = man.of_single(description.read_single(programs / name, name), command.version, date)
    for name, lines in pages.items():
        yield f"man/{name}.1", man.finish(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--date", required=True)
    asked = parser.parse_args()
    written = list(files(asked.programs, asked.date))
    for old in [*asked.out.glob("man/clotho*.1"), *(asked.out / name for name, _ in written)]:  # of an earlier build; nothing of others
        old.unlink(missing_ok=True)
    for name, text in written:
        path = asked.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (asked.out / "man" / "clotho-ninja.1").symlink_to("clotho-build.1")  # as the command is a link


if __name__ == "__main__":
    sys.exit(main())
