"""What an installed smplan does, wherever it was built: scripts/wheel runs it with every wheel.

usage: installed.py    (with the Python that it is installed for, outside the source tree)
"""

import importlib.metadata
import pickle
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

EXTRAS = {"all", "dask", "numpy", "pandas", "plot", "progress", "sagemaker"}
OPTIONAL = ("numpy", "pandas", "matplotlib", "tqdm", "dask", "sagemaker")


def main():
    begin = time.process_time()
    import smplan

    spent = time.process_time() - begin
    brought = [name for name in OPTIONAL if name in sys.modules]
    assert spent < 1 and not brought, (spent, brought)
    about = importlib.metadata.metadata("smplan")
    assert about["Version"] == smplan.__version__
    assert set(about.get_all("Provides-Extra")) == EXTRAS, about.get_all("Provides-Extra")
    assert about["License"] and about["Summary"] and about["Requires-Python"] == ">=3.9"
    assert not [need for need in about.get_all("Requires-Dist") if "extra ==" not in need], "it needs nothing but Python"
    plans = smplan.plan(model="llama-2-7b", instances="ml.p5.48xlarge", count=1)
    plan = plans.best
    assert plan.memory.fits and plan.export("create-training-job").files
    again = pickle.loads(pickle.dumps(plans))
    assert again == plans and again.best.explain() == plan.explain()
    console = Path(sysconfig.get_path("scripts")) / "smplan"
    for program in ([console], [sys.executable, "-I", "-m", "smplan"]):
        run = subprocess.run([*program, "plan", "--params", "7B", "--count", "1", "--quiet"], capture_output=True, text=True,
                             check=False)
        assert run.returncode == 0 and "ml." in run.stdout, run
    print(f"smplan {smplan.__version__} is installed, imported in {1000 * spent:.0f} ms")


if __name__ == "__main__":
    main()
