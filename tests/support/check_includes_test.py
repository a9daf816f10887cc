"""The include checker must be able to fail: each rule is broken once in a made-up tree."""

import tempfile
import unittest
from pathlib import Path

from check_includes import faults_of


class CheckIncludes(unittest.TestCase):
    def faults(self, path: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for known in ("base/units.hpp", "models/memory.hpp", "planner/plan.hpp", "cli/app.hpp", "planner/export/launch.hpp",
                          "planner/calibration/fit.hpp", path):
                (root / known).parent.mkdir(parents=True, exist_ok=True)
                (root / known).write_text("#pragma once\n")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            return faults_of(root, root / path)

    def test_downward_is_fine(self):
        self.assertEqual(self.faults("planner/a.cpp", '#include "models/memory.hpp"\n#include <vector>\n'), [])

    def test_upward(self):
        self.assertIn("models must not include planner", self.faults("models/a.cpp", '#include "planner/plan.hpp"\n')[0])

    def test_sideways(self):
        self.assertIn("bindings must not include cli", self.faults("bindings/a.cpp", '#include "cli/app.hpp"\n')[0])

    def test_rooms_of_the_planner(self):
        fit = '#include "planner/calibration/fit.hpp"\n'
        fault = "planner/validation must not include planner/calibration"
        self.assertIn(fault, self.faults("planner/validation/a.cpp", fit)[0])
        self.assertIn("must not include planner/calibration", self.faults("planner/a.cpp", fit)[0])
        self.assertEqual(self.faults("planner/calibration/a.cpp", fit + '#include "planner/plan.hpp"\n'), [])
        self.assertEqual(self.faults("planner/preflight/rules/a.cpp", '#include "planner/export/launch.hpp"\n'), [])

    def test_relative(self):
        self.assertIn("no path from the root", self.faults("base/a.cpp", '#include "units.hpp"\n')[0])

    def test_third_party(self):
        self.assertIn("does not belong", self.faults("models/memory.cpp", "#  include <boost/graph/graph.hpp>\n")[0])
        self.assertIn("does not belong", self.faults("base/a.hpp", "#pragma once\n#include <fmt/core.h>\n")[0])
        self.assertIn("does not belong", self.faults("planner/a.cpp", "#include <nlohmann/json.hpp>\n")[0])
        self.assertIn("does not belong", self.faults("cli/commands/a.cpp", "#include <CLI/CLI.hpp>\n")[0])
        self.assertEqual(self.faults("models/topology.cpp", "#include <boost/graph/graph.hpp>\n"), [])

    def test_header_guard(self):
        self.assertIn("#pragma once", self.faults("base/a.hpp", "#include <vector>\n")[0])


if __name__ == "__main__":
    unittest.main()
