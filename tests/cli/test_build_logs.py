"""clotho build: logs of ninja 1.12 (version 6) and 1.13 (version 7). A log keeps its version; its ages are when commands began, and
version 7 has another hash of the command. What those programs write is kept here, as they may not be installed."""
import os
import shutil
import unittest

from support import CLOTHO, CommandTest

TEXT = ": #" + "".join(chr(97 + i * 7 % 26) for i in range(400))
# length of a command -> its hash by ninja 1.12 and by ninja 1.13: all ways through the hash, from one word to two rounds of 96 bytes
HASHES = {
    1: ("2e49d2477c6737f0", "a2da22321247804b"), 3: ("fed34e7950a7d50c", "38616eb12726ea6a"),
    4: ("ec7064b9cfaefbd4", "95cfcca1132c0d14"), 5: ("6e0a67b4eb64b0d2", "91594da72fa64b70"),
    7: ("2d1666df26b003e", "5d8ca225bf52e39f"), 8: ("1e19f0d8c3f6aa19", "56fe62521b6a95fd"),
    9: ("83dfd4e9d4d97019", "b190c87b235f6666"), 12: ("6ea4fae6a66904d4", "e78f1bdb27a44d50"),
    15: ("b4c6bb5cb1860f6b", "b2e840fa14318338"), 16: ("7ea6e67607d78b53", "aa07aa873ae467b7"),
    17: ("b5d8cc0264245e5c", "d8a276c3bfada8f4"), 24: ("337146dd7fda0115", "d37bf0ffe8381158"),
    31: ("ffd1530a7a49940f", "721112de20a95fb4"), 32: ("1790b20e8aad11a", "40a9ae3a3b525087"),
    33: ("f9a873473add3c86", "524ac00de0cf873c"), 47: ("94c75998ba5908bb", "db3bb7e37cc815f4"),
    48: ("229750ef8f15d8e", "2ebb18224c0969d5"), 49: ("6b8b4489e017d23e", "715ffd9a2dc1c788"),
    64: ("3808fe6e6845ef34", "a5c9f92bf6d2fb27"), 80: ("e66ce62bae96d999", "79504a0041b0db25"),
    95: ("ea7407bfc0c06b7e", "1c1dd87000afeff3"), 96: ("3de1933186c2f78f", "d69c039f8bd8b59f"),
    97: ("363df212cfcaf33", "7968845d23547c86"), 112: ("56338b7e6635bd9", "96b083eac4273ae5"),
    144: ("a2b14e43a8c0921e", "73c2d22f76c30fa6"), 145: ("6891bb6edad75015", "52b0a8268175110d"),
    200: ("9bb601725f89e48c", "eccd59cd82f46a94"), 301: ("b9685d7f58792fa9", "ceeb52f8b0ee402c")}
FUTURE = 1900000000 * 10 ** 9


class Logs(CommandTest):
    def entries(self):
        """Version, and output -> (age, hash) of the last lines."""
        lines = self.bytes(".ninja_log").decode().splitlines()
        return lines[0], {output: (int(age), code) for _, _, age, output, code in (line.split("\t") for line in lines[1:])}

    def log(self, version, *lines):
        self.file(".ninja_log", "# ninja log v%d\n" % version + "".join("\t".join(map(str, line)) + "\n" for line in lines))

    def test_hashes_are_those_of_their_ninja(self):
        self.file("i", "")
        os.utime(self.path("i"), ns=(10 ** 18, 10 ** 18))
        self.file("build.ninja", "rule r\n  command = $c\n" + "".join("build o%d: r i\n  c = %s\n" % (n, TEXT[:n]) for n in HASHES))
        for version in (6, 7):
            for n in HASHES:
                self.file("o%d" % n, "")
            lines = [(0, 1, 2 * 10 ** 18, "o%d" % n, HASHES[n][version - 6]) for n in HASHES]
            self.log(version, *lines)
            said = self.say("build", "-n", "--explain")
            self.assertEqual((said.out, said.err), ("clotho: no work to do.\n", ""))
            self.log(version, *((*line[:4], "1234") for line in lines))
            self.good("build")
            head, found = self.entries()
            self.assertEqual(head, "# ninja log v%d" % version)
            self.assertEqual({name: code for name, (_, code) in found.items()}, {"o%d" % n: HASHES[n][version - 6] for n in HASHES})

    def test_ages_are_those_of_the_begin(self):
        """An output of the future keeps its age in version 5; from version 6 on only that of a generator or restat does, and of
        restat not where the command has left its output as it was."""
        rules = "".join("rule %s\n  command = $c\n%s" % (name, more) for name, more in
                        (("plain", ""), ("gen", "  generator = 1\n"), ("stat", "  restat = 1\n"), ("both", "  restat = 1\n  generator = 1\n")))
        self.file("build.ninja", rules + "".join("build %s: %s i\n  c = touch -d @1900000000 %s\n" % (out, rule, out) for out, rule in
                                                 (("p", "plain"), ("g", "gen"), ("s", "stat"), ("b", "both"))) +
                  "build u: stat i\n  c = :\nbuild v: both i\n  c = :\n")
        for version in (5, 6, 7):
            self.file("i", "")
            for name in "psgbuv":
                self.file(name, "")
                os.utime(self.path(name), ns=(10 ** 18, 10 ** 18))
            self.log(version)
            self.file(".time", "")
            self.good("build", "-j1")
            self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
            head, found = self.entries()
            self.assertEqual(head, "# ninja log v%d" % version)
            began, input_ns = os.stat(self.path(".time")).st_mtime_ns, os.stat(self.path("i")).st_mtime_ns
            kept = {name for name, (age, _) in found.items() if age == FUTURE}
            self.assertEqual(kept, set("psgb") if version == 5 else set("sgb"))
            for name in set("puv") - kept:
                self.assertTrue(input_ns <= found[name][0] < FUTURE, name)
                self.assertEqual(version > 5 and found[name][0] < began, False, name)

    def test_a_log_keeps_its_version(self):
        self.file("build.ninja", "rule r\n  command = touch $out\nbuild a: r i\nbuild b: r i\n")
        self.file("i", "")
        self.good("build")
        self.assertEqual(self.entries()[0], "# ninja log v5")  # a new one
        for version in (6, 7):
            self.log(version, *((0, 1, 1, "a", "%x" % n) for n in range(500)))  # to be written anew
            self.good("build")
            for words in (("-t", "recompact"), ("-t", "restat"), ("-t", "cleandead")):
                self.good("build", *words)
                head, found = self.entries()
                self.assertEqual((head, set(found)), ("# ninja log v%d" % version, {"a", "b"}))
            self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
        self.assertEqual([name for name in os.listdir(self.temporary.name) if name.startswith(".clotho-")], [])

    def tools(self):
        """Programs that put a new log in the place of the old one."""
        ninja = shutil.which("ninja")
        return [os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")] + ([ninja] if ninja else [])

    def all_ended(self, *names):
        found = self.entries()[1]
        self.assertEqual({name: found.get(name, (0, "0")) != (0, "0") for name in names}, dict.fromkeys(names, True))
        self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")

    def test_steps_that_call_tools_of_the_log(self):
        """No line is lost, neither of such a step nor of those around it; each is begun and ended in the logs that tools make."""
        for program in self.tools():
            self.file("build.ninja", "rule t\n  command = touch $out\nrule tool\n  command = %s -t $tool && touch $out\n"
                      "  generator = 1\nbuild a: t i\nbuild b: tool a\n  tool = restat\nbuild c: t b\nbuild d: tool c\n"
                      "  tool = recompact\nbuild e: t d\nbuild f: tool e\n  tool = cleandead\nbuild g: t f\n" % program)
            for version in (5, 6, 7) if "clotho" in os.path.basename(program) else (5,):
                self.log(version)
                for _ in range(2):  # without entries, and with them
                    self.file("i", "")
                    self.assertEqual(self.good("build").count("/7] "), 7)
                    self.all_ended(*"abcdefg")

    def test_inputs_found_around_tools_of_the_log(self):
        """A .ninja_deps that is written anew by a step has other numbers."""
        rules = ("rule cc\n  command = touch $out && echo $out: $in $headers > $out.d\n  depfile = $out.d\n  deps = gcc\n"
                 "rule tool\n  command = %s -t recompact && touch $out\n")
        for program in self.tools():
            for name in ("i", "ha", "hb", "hc", "gone"):
                self.file(name, "")
            gone = "build x: cc i gone\nbuild y: cc i hb\n"
            self.file("build.ninja", rules % program + gone + "build a: cc i | x y\n  headers = gone ha\n")
            self.good("build", "-j1")
            self.file("build.ninja", rules % program + "build a: cc i\n  headers = hb ha\nbuild r: tool a\n"
                      "build b: cc i | r\n  headers = hb\nbuild s: tool b\nbuild c: cc i | s\n  headers = ha hc\n")
            self.good("build")
            self.all_ended(*"arbsc")
            said = self.good("build", "-t", "deps", "a", "b", "c")
            self.assertEqual([line.strip() for line in said.splitlines() if line.startswith(" ")],
                             ["i", "hb", "ha", "i", "hb", "i", "ha", "hc"])
            self.assertEqual(said.count("(VALID)"), 3)
            os.remove(self.path(".ninja_log"))
            os.remove(self.path(".ninja_deps"))

    def test_logs_replaced_while_other_steps_end(self):
        """A tool that has read the logs before another step ends and replaces them behind it, or a step that removes them; also
        where the step itself fails, which writes no line any more."""
        for end in ("mv old .ninja_log; mv deps .ninja_deps", "rm .ninja_log .ninja_deps"):
            for fails in (False, True):
                for version in (5, 7):
                    for name in ("go", "old", "deps", "quick", "slow"):
                        if os.path.exists(self.path(name)):
                            os.remove(self.path(name))
                    for name in ("i", "h"):
                        self.file(name, "")
                    self.file("build.ninja", "rule slow\n  command = cp .ninja_log old; cp .ninja_deps deps; touch go; "
                              "until grep -q quick .ninja_log; do sleep 0.01; done; %s; touch slow; exit %d\n"
                              "rule quick\n  command = until [ -e go ]; do sleep 0.01; done; touch $out; echo $out: h > $out.d\n"
                              "  depfile = $out.d\n  deps = gcc\nbuild slow: slow i\nbuild quick: quick i\n" % (end, fails))
                    self.log(version)
                    self.assertEqual(self.say("build", "-j2", "-k0").code, int(fails))
                    head, found = self.entries()
                    self.assertEqual((head, set(found)), ("# ninja log v%d" % version, {"quick"} if fails else {"quick", "slow"}))
                    self.assertEqual(self.good("build", "-n", "quick"), "clotho: no work to do.\n")
                    self.assertIn("    h\n", self.good("build", "-t", "deps", "quick"))

    def test_ninjas_lines_cut_off(self):
        """What a killed ninja 1.13 has left counts up to its last whole line."""
        self.file("build.ninja", "rule r\n  command = touch $out\nbuild a: r i\nbuild b: r i\n")
        self.file("i", "")
        self.log(7)
        self.good("build", "-j1")
        whole = self.bytes(".ninja_log")
        self.file(".ninja_log", whole[:-5])
        self.assertEqual(self.good("build").count("touch"), 1)
        self.assertEqual(set(self.entries()[1]), {"a", "b"})

    def test_an_empty_field_is_zero(self):
        """And not what stands behind it: the next field, or the next line."""
        self.file("build.ninja", "rule r\n  command = touch $out\nbuild a: r i\nbuild b: r i\n")
        self.file("i", "")
        self.log(5)
        self.good("build", "-j1")
        head, found = self.entries()
        age, code = found["a"]
        rest = "\t".join(("0", "1", str(found["b"][0]), "b", found["b"][1])) + "\n"
        for line in ("0\t1\t%d\ta\t\n%s\n" % (age, code), "0\t1\t\t%d\t%s\n" % (age, code), "0\t1\t\ta\t%s\n" % code):
            with self.subTest(line):
                self.file(".ninja_log", head + "\n" + rest + line)
                self.assertEqual(self.good("build", "-n"), "[1/1] touch a\n")
        self.file(".ninja_log", head + "\n" + rest + "\t\t%d\ta\t%s\n" % (age, code))
        self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")


if __name__ == "__main__":
    unittest.main()
