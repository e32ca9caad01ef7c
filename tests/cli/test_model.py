"""model show | verify | embed | diff: what they print, and damaged files."""
import json
import os
import shutil
import stat
import struct
import subprocess
import unittest

from support import DATA, SOURCE, CommandTest, needs_data

# Drawn jobs are harder than recorded ones: many scores are nearly equal.
AGREE = 0.95
TINY = os.path.join(SOURCE, "tests/fuzz/corpus/model/tiny.model")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Model(CommandTest):
    def tiny(self, change=None, name="m.model"):
        """A copy, changed by `change` (of a bytearray), with its CRC mended."""
        with open(TINY, "rb") as file:
            data = bytearray(file.read())
        if change is not None:
            change(data)
            struct.pack_into("<I", data, 12, crc32c(data[:12] + data[16:]))
        return self.file(name, bytes(data))

    def test_help(self):
        for action in ["show", "verify", "embed", "diff", "quantize"]:
            self.assertTrue(self.good("model", action, "--help").startswith("usage: clotho model " + action))
        self.assertIn("embed", self.good("model", "--help"))
        self.bad(2, "model", holds="show, verify")
        self.bad(2, "model", "sho", holds="did you mean 'show'?")

    def test_show_prints_what_the_file_holds(self):
        text = self.good("model", "show", TINY)
        for part in ["tiny, head, version 1.0", "features\n", "values\n", "layers\n", "operations\n", "sum-children"]:
            self.assertIn(part, text)
        shown = self.json("model", "show", TINY)
        self.assertEqual(shown["name"], "tiny")
        self.assertEqual(shown["bytes"], os.path.getsize(TINY))
        self.assertEqual(len(shown["features"]), 6)
        self.assertEqual(shown["operations"][0], {"op": "dense", "in": [0], "out": 3, "argument": 0})

    def test_verify_runs_the_golden_vectors(self):
        self.assertIn("3 golden vectors agree", self.good("model", "verify", TINY))
        self.assertEqual(self.json("model", "verify", TINY), {"valid": True, "golden": 3})

        def change_score(data):
            golden = struct.unpack_from("<I", data, 64 + 5 * 8)[0]
            data[struct.unpack_from("<I", data, golden + 36)[0]] ^= 1
        self.bad(1, "model", "verify", self.tiny(change_score), holds=["m.model", "golden vector 0", "stage 0 scores"])

    def test_damaged_files_are_refused_with_one_line(self):
        with open(TINY, "rb") as file:
            data = file.read()
        self.bad(1, "model", "show", self.file("a", data[:-16]), holds="it was cut")
        self.bad(1, "model", "show", self.file("b", data[:400] + b"?" + data[401:]), holds="was changed")
        self.bad(1, "model", "show", self.file("c", b""), holds="no model")
        self.bad(1, "model", "show", self.file("d", b"x" * 400), holds="no model")
        self.bad(1, "model", "show", self.path("none"), holds="none")

        def newer(data):
            struct.pack_into("<H", data, 4, 2)
        self.bad(1, "model", "verify", self.tiny(newer), holds="is of version 2.0, this library reads version 1")

        def other_features(data):
            struct.pack_into("<I", data, 20, 1)
        self.bad(1, "model", "verify", self.tiny(other_features), holds="has 6 features, list 1 of this library has 9")

    def test_diff_names_what_differs(self):
        self.assertEqual(self.good("model", "diff", TINY, TINY), "equal\n")
        self.assertEqual(self.json("model", "diff", TINY, TINY), {"equal": True})

        def widen(data):
            features = struct.unpack_from("<I", data, 64)[0]
            struct.pack_into("<i", data, features + 24, 5)
        other = self.tiny(widen)
        said = self.say("model", "diff", TINY, other)
        self.assertEqual((said.code, said.err), (1, ""))
        self.assertIn("feature 0: a (raw * 3) >> 0", said.out)
        said = self.say("model", "diff", TINY, other, "--json")
        self.assertEqual((said.code, json.loads(said.out)), (1, {"equal": False}))

    def test_embed_writes_an_array_of_the_same_bytes(self):
        self.good("model", "embed", TINY, "-o", self.path("tiny.c"), "--name", "tiny")
        self.assertIn("model_tiny[", self.good("model", "embed", TINY))
        self.bad(2, "model", "embed", TINY, "--name", "7up", holds="'7up'")
        for name in ("for", "bool", "main", "NULL", "int8_t"):
            self.bad(2, "model", "embed", TINY, "--name", name, holds="--name is '%s'" % name)
        self.bad(1, "model", "embed", TINY, "-o", self.path("no/folder.c"), holds="No such file or directory; nothing was begun")
        self.assert_nothing_half_written()
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no compiler")
        self.file("main.c", '#include <stdio.h>\nextern const unsigned char tiny[];\nextern const unsigned long tiny_bytes;\n'
                            'int main(void) { return fwrite(tiny, 1, tiny_bytes, stdout) != tiny_bytes; }\n')
        subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-o", self.path("main"), self.path("main.c"), self.path("tiny.c")],
                       check=True)
        done = subprocess.run([self.path("main")], check=True, stdout=subprocess.PIPE)
        with open(TINY, "rb") as file:
            self.assertEqual(done.stdout, file.read())

    def test_what_is_no_file_is_written_in_its_place(self):
        """A file takes its name when it is whole; a pipe or a device keeps its place."""
        pipe, array = self.path("pipe"), self.path("tiny.c")
        os.mkfifo(pipe)
        self.good("model", "embed", TINY, "-o", array)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader, open(array, "rb") as file:
            self.good("model", "embed", TINY, "-o", pipe)
            if not stat.S_ISFIFO(os.stat(pipe).st_mode):
                reader.kill()  # nobody writes to what it has open
            self.assertEqual(reader.communicate()[0], file.read())
        self.bad(1, "model", "embed", TINY, "-o", os.path.dirname(array) + "/", holds="Is a directory; nothing was begun")
        full = self.path("full")  # a link: the test cannot harm the device
        if os.path.exists("/dev/full"):
            os.symlink("/dev/full", full)
            self.bad(1, "model", "embed", TINY, "-o", full, holds="No space left on device")
            self.assertTrue(os.path.islink(full))
            os.remove(full)
        self.assertEqual(sorted(os.listdir(os.path.dirname(array))), ["pipe", "tiny.c"])


    @needs_data("decima_model/decima_weights.json")
    def test_quantize_converts_the_published_weights(self):
        weights, path = os.path.join(DATA, "decima_model/decima_weights.json"), self.path("decima.model")
        made = self.json("model", "quantize", weights, "-o", path)
        self.assertGreaterEqual(made["stages_agree"], AGREE * made["stages"])
        self.assertGreaterEqual(made["limits_agree"], AGREE * made["limits"])
        self.assertIn("4 golden vectors agree", self.good("model", "verify", path))
        shown = self.json("model", "show", path)
        self.assertEqual((shown["kind"], shown["feature_set"]), ("decima", 4))
        again = self.path("again.model")
        self.good("model", "quantize", weights, "-o", again)
        self.assertEqual(self.bytes("decima.model"), self.bytes("again.model"))

        def drop(state):
            state["state_dict"].pop("encoder.dag_encoder.mlp.2.bias")

        def cut(state):
            state["state_dict"]["encoder.dag_encoder.mlp.2.weight"]["data"].pop()

        def scale(state):
            state["config"]["work_scale"] = 0
        for change, text in [(drop, "mlp.2.bias is no tensor of 16"), (cut, "mlp.2.weight is no tensor of 16 x 32"),
                             (scale, "work_scale")]:
            with open(weights, encoding="utf-8") as file:
                state = json.load(file)
            change(state)
            self.bad(1, "model", "quantize", self.file("bad.json", state), "-o", self.path("bad.model"), holds=text)
        self.assert_nothing_half_written("bad.model")

    def test_quantize_refuses_what_is_no_json(self):
        self.bad(1, "model", "quantize", self.file("x.json", "{"), "-o", self.path("x.model"), holds="is no JSON")
        self.bad(1, "model", "quantize", self.path("none.json"), "-o", self.path("x.model"), holds="No such file")
        self.bad(2, "model", "quantize", self.path("x.json"), holds="-o F.model")


if __name__ == "__main__":
    unittest.main()
