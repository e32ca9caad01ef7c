"""bench/pages: tables are found with their lines, figures are replaced as they are written, and what differs is noticed."""
import argparse
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "bench", "pages"))
import page
import pages

PAGE = """# bench-made: a page

<!-- table made | bench-made --rounds 2 | same, but quick within 10 % -->
| planner | ratio | ms |
|---|---|---|
| `heft` | **0.93** [0.9, 1.0] | 12 000 |
| `quick` | 1.00 | 5 |
"""


class Asked(argparse.Namespace):
    quick = short = update = False
    results, limit = None, 60


def read(results, labels, head, column):
    row = results[0][labels[0]]
    return row if head[column] == "ratio" else None


read.labels = 1


class Pages(unittest.TestCase):
    def write(self, text):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = os.path.join(self.folder.name, "bench", "made", "README.md")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_table_without_its_line_is_named(self):
        for wrong, why in (("", "no line"), ("<!-- table a | same -->", "has a command"), ("<!-- table a | x | record: y -->", "has a command"),
                           ("<!-- table a | record -->", "say why"), ("<!-- table a | x | sometimes -->", "no line")):
            tables, complaints = page.tables_of(self.write("text\n\n%s\n| a | b |\n|---|---|\n| x | 1 |\n" % wrong))
            self.assertEqual(len(tables), 0)
            self.assertIn(why, complaints[0])
        with self.assertRaises(page.Wrong):
            page.tables_of(self.write(PAGE.replace("within", "about")))

    def test_a_block_of_figures_is_a_table_and_a_block_of_commands_is_none(self):
        block = "```\npeer  a  b  c\nx  1 2 3\ny  4 5 6\n```\n"
        self.assertEqual(len(page.tables_of(self.write(block))[1]), 1)
        for other in (block.replace("```\np", "```sh\np"), "```\n./dev bench --rounds 1\n```\n"):
            self.assertEqual(page.tables_of(self.write(other)), ([], []))

    def test_figures_keep_decimals_blanks_signs_and_marks(self):
        for cell, values, new in (("**0.93** [0.9, 1.0]", (0.926, 0.91, 1.04), "**0.93** [0.9, 1.0]"), ("12 000", (1234567.4,), "1 234 567"),
                                  ("+0.5 ± 0.1", (-0.25, 0.2), "-0.2 ± 0.2"), ("428.1 (`wfair:-0.8`)", (9,), "9.0 (`wfair:-0.8`)"),
                                  ("1 (438.9 s)", (None, 440), "1 (440.0 s)"), ("23 / 27", (1,), "1 / 27"), ("0.00", (-0.001,), "0.00")):
            self.assertEqual(page.fill(cell, values)[0], new)

    def test_a_figure_may_differ_by_its_share_alone(self):
        self.assertTrue(page.differs("0.927", "0.928", 0))
        self.assertFalse(page.differs("0.927", "0.927", 0))
        self.assertFalse(page.differs("0.900", "0.940", 0.05))
        self.assertTrue(page.differs("0.900", "0.990", 0.05))

    def remake(self, answer, **asked):
        path = self.write(PAGE)
        table, = page.tables_of(path)[0]
        runner = mock.Mock(out=os.path.join(self.folder.name, "out"), asked=Asked())
        runner.run.return_value = answer
        said = []
        with mock.patch.dict(pages.READERS, {"made": read}), mock.patch.object(pages, "SOURCE", self.folder.name), \
                mock.patch("builtins.print", lambda *words: said.append(" ".join(words))):
            status = pages.remake_all([table], runner, Asked(**asked))
        with open(path, encoding="utf-8") as file:
            return status, "\n".join(said), file.read()

    def test_what_differs_is_named_and_the_page_stays(self):
        same = {"heft": [0.93, 0.9, 1.0], "quick": [1.05]}
        self.assertEqual(self.remake(same)[0], 0)
        status, said, text = self.remake({**same, "heft": [0.94, 0.9, 1.0]})
        self.assertEqual((status, text), (1, PAGE))
        self.assertIn("heft, ratio: 0.93, now 0.94", said)
        self.assertEqual(self.remake({**same, "quick": [1.2]})[0], 1)
        self.assertEqual(self.remake({"heft": [0.93]})[0], 1, "a row that the run has not")
        self.assertEqual(self.remake({"heft": [0.95]}, quick=True)[0], 0)

    def test_update_writes_the_figures_alone(self):
        _, _, text = self.remake({"heft": [0.94, 0.9, 1.0], "quick": [1.05]}, update=True)
        self.assertEqual(text, PAGE.replace("**0.93**", "**0.94**").replace("| 1.00 |", "| 1.05 |"))

    def test_a_text_takes_the_lines_that_begin_alike(self):
        block = ["```", "peer          ns", "Clotho steal  8.95  7.92", "serial floor  0.88  0.77", "```"]
        said = "first\npeer          ns\nClotho steal  9.11  8.00\nother  1  2\nserial floor  0.90  0.80\n"
        self.assertEqual(page.refill_text(block, said), (["```", "peer          ns", "Clotho steal  9.11  8.00", "serial floor  0.90  0.80", "```"], 0))
        self.assertEqual(page.refill_text(block, "nothing")[1], 2)

    def test_commands_that_are_not_there_are_named(self):
        for command, why in (("bench-none", "there is no"), ("rm -rf x", "no command that"), ("python3 bench/none.py", "is not there")):
            table, = page.tables_of(self.write(PAGE.replace("bench-made --rounds 2", command)))[0]
            with mock.patch.dict(pages.READERS, {"made": read}, clear=True):
                wrong = list(pages.check([table], pages.Runner(self.folder.name, Asked())))
            self.assertIn(why, "".join(wrong))

    def test_a_command_that_fails_is_said(self):
        self.write(PAGE)
        program = os.path.join(self.folder.name, "bin", "bench-made")
        os.mkdir(os.path.dirname(program))
        for script, why in (("echo no >&2; exit 3", "status 3: no"), ("echo '{'", "prints no JSON"), ("sleep 9", "takes more than 1 s")):
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script + "\n")
            os.chmod(program, 0o755)
            runner = pages.Runner(self.folder.name, Asked(limit=1 if script.startswith("sleep") else 60))
            runner.out = self.folder.name
            with self.assertRaisesRegex(page.Wrong, why):
                runner.run("bench-made", False)
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho '%s'\n" % json.dumps({"heft": [1]}))
        runner = pages.Runner(self.folder.name, Asked())
        runner.out = self.folder.name
        self.assertEqual(runner.run("bench-made", False), {"heft": [1]})


if __name__ == "__main__":
    unittest.main()
