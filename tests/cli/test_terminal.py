"""Names come from files: none of their bytes may command the terminal, break a line, or make JSON or SVG that no parser takes."""
import json
import os
import re
import unittest
import xml.etree.ElementTree

from support import SOURCE, CommandTest

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


if __name__ == "__main__":
    unittest.main()
