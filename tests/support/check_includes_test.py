"""The include checker must be able to fail: each rule is broken once in a made-up tree."""

import tempfile
import unittest
from pathlib import Path

from check_includes import ROOMS, faults_of


class CheckIncludes(unittest.TestCase):
    def faults(self, path: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for known in ("base/units.hpp", "models/memory/memory.hpp", "planner/answer/plan.hpp", "cli/app.hpp",
                          "planner/export/launch.hpp", "planner/calibration/fit.hpp", path):
                (root / known).parent.mkdir(parents=True, exist_ok=True)
                (root / known).write_text("#pragma once\n")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            return faults_of(root, root / path)

    def test_downward_is_fine(self):
        self.assertEqual(self.faults("planner/answer/a.cpp", '#include "models/memory/memory.hpp"\n#include <vector>\n'), [])

    def test_upward(self):
        self.assertIn("models must not include planner", self.faults("models/job/a.cpp", '#include "planner/answer/plan.hpp"\n')[0])

    def test_sideways(self):
        self.assertIn("bindings must not include cli", self.faults("bindings/a.cpp", '#include "cli/app.hpp"\n')[0])

    def test_rooms(self):
        fit = '#include "planner/calibration/fit.hpp"\n'
        fault = "planner/validation must not include planner/calibration"
        self.assertIn(fault, self.faults("planner/validation/a.cpp", fit)[0])
        self.assertEqual(self.faults("planner/calibration/a.cpp", fit + '#include "planner/answer/plan.hpp"\n'), [])
        self.assertEqual(self.faults("planner/preflight/rules/a.cpp", '#include "planner/export/launch.hpp"\n'), [])
        memory = '#include "models/memory/memory.hpp"\n'
        self.assertIn("models/job must not include models/memory", self.faults("models/job/a.cpp", memory)[0])
        self.assertEqual(self.faults("models/step/a.cpp", memory), [])

    def test_every_file_stands_in_a_room(self):
        self.assertIn("stands in none of them", self.faults("planner/a.cpp", "")[0])
        self.assertIn("stands in none of them", self.faults("models/new/a.cpp", "")[0])

    def test_arrows_between_rooms_make_no_circle(self):
        for rooms in ROOMS.values():
            left = dict(rooms)
            while left:
                lowest = [room for room, above in left.items() if not above & left.keys()]
                self.assertTrue(lowest, f"a circle among {sorted(left)}")
                for room in lowest:
                    del left[room]

    def test_relative(self):
        self.assertIn("no path from the root", self.faults("base/a.cpp", '#include "units.hpp"\n')[0])

    def test_third_party(self):
        self.assertIn("does not belong", self.faults("models/memory/memory.cpp", "#  include <boost/graph/graph.hpp>\n")[0])
        self.assertIn("does not belong", self.faults("base/a.hpp", "#pragma once\n#include <fmt/core.h>\n")[0])
        self.assertIn("does not belong", self.faults("planner/answer/a.cpp", "#include <nlohmann/json.hpp>\n")[0])
        self.assertIn("does not belong", self.faults("cli/commands/a.cpp", "#include <CLI/CLI.hpp>\n")[0])
        self.assertEqual(self.faults("models/machine/topology.cpp", "#include <boost/graph/graph.hpp>\n"), [])

    def test_header_guard(self):
        self.assertIn("#pragma once", self.faults("base/a.hpp", "#include <vector>\n")[0])


if __name__ == "__main__":
    unittest.main()
