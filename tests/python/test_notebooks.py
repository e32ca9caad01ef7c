"""The notebooks, executed from top to bottom; they are kept without what they print."""
import json
import os
import sys
import unittest
import warnings

from support import PACKAGE, SOURCE, PackageTest, needs

FOLDER = os.path.join(SOURCE, "bindings", "python", "notebooks")
SHORT = {"CLOTHO_GRAPHS": "200", "CLOTHO_BATCHES": "3"}


def contents(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


@needs("nbclient", "ipykernel", "matplotlib", "pandas")
class Notebooks(PackageTest):
    def execute(self, name):
        """What all cells print, pictures as their kinds."""
        import nbclient
        import nbformat
        from jupyter_client.manager import AsyncKernelManager
        from nbclient.util import run_sync
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

        self.addCleanup(os.chdir, os.getcwd())
        environment = dict(SHORT, PYTHONPATH=PACKAGE, IPYTHONDIR=self.folder, MPLCONFIGDIR=self.folder)

        class This(KernelSpecManager):
            """This interpreter, wherever a kernel is installed."""

            def get_kernel_spec(self, kernel_name):
                start = [sys.executable, "-B", "-X", "frozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
                return KernelSpec(argv=start, display_name=kernel_name, language="python", env=environment)

        book = nbformat.read(os.path.join(FOLDER, name), as_version=4)
        nbformat.validate(book)
        os.chdir(self.folder)  # the kernel's, too: the path of a socket must be short, that of the folder need not be
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=This(), transport="ipc", ip="k", connection_file="k.json")
        client = nbclient.NotebookClient(book, km=manager, timeout=1200, resources={"metadata": {"path": self.folder}})
        warnings.simplefilter("default")  # these packages' own
        client.execute(cleanup_kc=True)
        run_sync(manager.shutdown_kernel)(now=True)
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        return "\n".join(str(output.get("text", output.get("data"))) for output in outputs)

    def test_planners(self):
        said = self.execute("planners.ipynb")
        self.assertIn("by_rank", said)
        self.assertIn("image/png", said)
        self.assertRegex(said, r"heft +200 +0 ")

    def test_policies(self):
        said = self.execute("policies.ipynb")
        self.assertRegex(said, r"shortest-jobs +[\d.]+ s")
        self.assertIn("image/png", said)

    def test_pipeline(self):
        said = self.execute("pipeline.ipynb")
        self.assertIn("frames in flight", said)
        self.assertRegex(said, "a period of .* ms: latency")
        self.assertRegex(said, "clo_plan_pipeline|interval|bound")


class Kept(PackageTest):
    def test_notebooks_are_kept_without_outputs(self):
        names = sorted(os.listdir(FOLDER))
        self.assertEqual([name for name in names if name.endswith(".ipynb")], ["pipeline.ipynb", "planners.ipynb", "policies.ipynb"])
        for name in names:
            if name.endswith(".ipynb"):
                for cell in contents(name)["cells"]:
                    self.assertEqual((cell.get("outputs", []), cell.get("execution_count")), ([], None), name)

    def test_the_comparison_takes_twenty_lines(self):
        source = "".join(contents("planners.ipynb")["cells"][1]["source"]).splitlines()
        self.assertLessEqual(sum(bool(line.strip()) for line in source), 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
