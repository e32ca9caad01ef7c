"""Names come from files: none of their bytes may command the terminal, break a line, or make JSON or SVG that no parser takes."""
import json
import os
import pty
import re
import subprocess
import unittest
import xml.etree.ElementTree

from support import CLOTHO, LONG, SOURCE, CommandTest

ESCAPES = "\x1b[31m\x07\r\n\x7f\u009b31m"
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but the line break


class Terminal(CommandTest):
    def named(self, file="g.json"):
        """A chain whose graph, tasks and kinds have names with control characters."""
        return self.graph([{"name": n + ESCAPES, "work_ns": 100000} for n in "ab"], [(0, 1)], name="n" + ESCAPES, file=file)

    def platform(self):
        with open(os.path.join(SOURCE, "platforms", "jetson-tx2.xml"), encoding="utf-8") as file:
            text = file.read()
        for name in ["jetson-tx2\"", "Cortex-A57\"", "Denver2\"", "denver2\""]:
            text = text.replace('value="' + name, 'value="x&#x9b;31m&#x85;' + name)
        return self.file("p.xml", text)

    def clean(self, *arguments):
        said = self.say(*arguments)
        for stream in [said.out, said.err]:
            self.assertIsNone(COMMANDS.search(stream), (arguments, stream))
        return said

    def test_no_control_character_of_a_name_reaches_the_terminal(self):
        g, p, bad = self.named(), self.platform(), "g" + ESCAPES + ".json"
        for arguments in [["plan", g], ["plan", g, "--planner", "all"], ["plan", g, "--platform", p, "--gantt-text"],
                          ["run", g], ["run", g, "--platform", p, "--clock", "virtual"], ["simulate", g, "--policy", "eft"],
                          ["simulate", g, "--policy", "eft", "--platform", p], ["platform", "show", p],
                          ["plan", bad], ["plan", g, "--planner", ESCAPES], ["plan", g, "--platform", ESCAPES], [ESCAPES],
                          ["plan", g, "--budget", ESCAPES], ["list", ESCAPES], ["platform", ESCAPES]]:
            with self.subTest(arguments=arguments):
                self.clean(*arguments)
                one = self.clean(*arguments, "--json")
                for line in one.out.splitlines():
                    json.loads(line)

    def test_files_with_such_names_are_named_without_them(self):
        self.named(file="g" + ESCAPES + ".json")
        plan = self.path("p" + ESCAPES + ".json")
        self.assertEqual(self.clean("plan", self.path("g" + ESCAPES + ".json"), "--out", plan).code, 0)
        said = self.clean("check", self.path("g" + ESCAPES + ".json"), plan)
        self.assertEqual(said.code, 0, said.err)
        self.assertIn("p\\x1b[31m\\x07\\x0d\\x0a\\x7f\\xc2\\x9b31m.json: valid", said.out)

    def test_the_name_is_shown_byte_by_byte(self):
        self.assertIn("graph        n\\x1b[31m\\x07\\x0d\\x0a\\x7f\\xc2\\x9b31m: 2 tasks", self.clean("plan", self.named()).out)
        self.assertIn("n\\x1b[31m", self.clean("plan", self.named(), "--gantt-text").out.split("check ")[-1])

    def test_bytes_that_are_not_utf8_are_shown_as_bytes(self):
        said = self.say("plan", self.path("") + "\udc9b31m")
        self.assertIn("\\x9b31m: No such file", said.err)

    def test_pictures_and_traces_stay_valid(self):
        svg, trace = self.path("o.svg"), self.path("t.json")
        self.good("run", self.named(), "--gantt", svg, "--trace", trace)
        xml.etree.ElementTree.parse(svg)
        with open(trace, encoding="utf-8") as file:
            json.load(file)


LOCALES = [({"LC_ALL": "C"}, False), ({"LC_ALL": "POSIX"}, False), ({"LC_ALL": "de_DE.ISO-8859-1"}, False),
           ({"LC_ALL": "", "LC_CTYPE": "C", "LANG": "C.UTF-8"}, False), ({"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}, False),
           ({"LC_ALL": "C.UTF-8"}, True), ({"LC_ALL": "", "LC_CTYPE": "en_US.utf8", "LANG": "C"}, True),
           ({"LC_ALL": "", "LC_CTYPE": "", "LANG": "de_DE.UTF-8@euro"}, True)]


class Capabilities(CommandTest):
    """Box characters where the locale has them, escape sequences where the terminal takes them."""

    def reports(self):
        g = self.graph([{"name": n, "work_ns": 7000 * (i + 1), "duplicable": True} for i, n in enumerate("abcdef")],
                       [(0, i, 90000) for i in range(1, 6)])
        stream = self.path("s.jsonl")
        self.good("generate", "stream", "--jobs", "20", "--arrivals", "poisson:1ms", "-o", stream)
        yield ["plan", g, "--platform", "rk3588", "--gantt-text"]
        yield ["plan", g, "--platform", "rk3588", "--gantt-text", "--pipeline"]
        yield ["run", g, "--platform", "uniform:3", "--clock", "virtual"]
        yield ["simulate", stream, "--policy", "fair", "--platform", "uniform:3"]
        yield ["simulate", g, "--policy", "eft", "--platform", "uniform:3"]
        yield ["platform", "show", "rk3588"]

    def test_a_locale_without_utf8_gets_ascii_and_the_same_columns(self):
        drawn = 0
        for arguments in self.reports():
            widths = set()
            for locale, has_boxes in LOCALES:
                out = self.good(*arguments, environment=locale)
                drawn += not out.isascii()
                self.assertTrue(has_boxes or out.isascii(), (arguments, locale, out))
                widths.add(tuple(len(line) for line in out.splitlines() if not re.search(r"\d [mnuµ]?s", line)))
            self.assertEqual(len(widths), 1, arguments)
        self.assertEqual(drawn, 5 * 3)  # Gantt charts of plan (2) and run, the bars of simulate, the picture of a platform

    def test_a_picture_is_utf8_whatever_the_locale(self):
        self.good("plan", self.diamond(), "--gantt", self.path("o.svg"), environment={"LC_ALL": "C"})
        with open(self.path("o.svg"), "rb") as file:
            self.assertIn("·", file.read().decode("utf-8"))

    def seen(self, terminal, *arguments):
        """What the command writes to a terminal."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([CLOTHO, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                              env={**os.environ, "TERM": terminal}, cwd=self.temporary.name) as process:
            os.close(theirs)
            text = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the terminal is closed
                    piece = b""
                if not piece:
                    break
                text += piece
            self.assertEqual(process.wait(LONG), 0, text)
        os.close(ours)
        return text

    def test_a_csv_on_a_terminal_has_names_without_their_commands(self):
        line = ["plan", self.graph([{"work_ns": 1000}], name="n" + ESCAPES), "--platform", "uniform:2", "--planner", "heft", "--planner", "deft",
                "--csv", "-"]
        text = self.seen("dumb", *line).decode()
        self.assertIn("\\x1b[31m", text)
        self.assertIsNone(COMMANDS.search(text.replace("\r\n", "\n")), text)
        self.assertIn("\x1b[31m", self.good(*line))  # a file has the name as it is

    def test_a_terminal_that_takes_no_escapes_gets_none(self):
        self.file("many.jsonl", '{"name": "a", "n": 1, "proc_time": [1], "pred": [[]]}\n' * 3)
        self.file("build.ninja", "rule r\n command = true\nbuild a: r\nbuild b: r\n")
        compared = ["--platform", "uniform:2", "--planner", "heft", "--planner", "deft"]
        for arguments, shows in [(["plan", self.diamond()], False), (["plan", "many.jsonl", "--platform", "uniform:2"], True),
                                 (["plan", "many.jsonl", *compared], True), (["build"], True)]:
            for terminal, takes in [("dumb", False), ("", False), ("xterm", shows)]:
                text = self.seen(terminal, *arguments)
                self.assertEqual(b"\x1b" in text, takes, (arguments, terminal, text))
                if os.path.exists(self.path(".ninja_log")):
                    os.remove(self.path(".ninja_log"))


if __name__ == "__main__":
    unittest.main()
