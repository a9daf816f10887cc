"""The changes that scripts/mutation makes: each kind once, and none in what is no code."""

import pathlib
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from mutants.changes import mutants_of, replacements, shuffled, tenfold  # noqa: E402


def changed(text: str) -> list[str]:
    return [mutant.becomes for mutant in mutants_of("models/a.cpp", text + "\n")]


class Changes(unittest.TestCase):
    def test_operators(self):
        self.assertEqual(changed("bool f = a < b && !c;"), ["bool f = a <= b && !c;", "bool f = a < b || !c;", "bool f = a < b && c;"])
        self.assertEqual(changed("auto x = std::min(a, b) * c;"), ["auto x = std::max(a, b) * c;", "auto x = std::min(a, b) / c;"])

    def test_constants(self):
        self.assertEqual(changed("auto n = 1'000;"), ["auto n = 1001;"])
        self.assertEqual(changed("auto x = 0.25_GiB;"), ["auto x = 0.5_GiB;"])
        self.assertEqual(changed("bool on = true;"), ["bool on = false;"])

    def test_limits_are_ten_times_as_large_and_a_tenth(self):
        def scaled(text: str) -> list[str]:
            return [mutant.becomes for mutant in mutants_of("planner/a.cpp", text + "\n", tenfold)]

        self.assertEqual(scaled("constexpr int kMost = 1'500;"), ["constexpr int kMost = 15000;", "constexpr int kMost = 150;"])
        self.assertEqual(scaled("constexpr double kTime = 2 * kHour;"), ["constexpr double kTime = 20 * kHour;", "constexpr double kTime = 0 * kHour;"])
        self.assertEqual(scaled("bool f = n > 5e9;"), ["bool f = n > 50000000000.0;", "bool f = n > 500000000.0;"])
        for text in ("bool f = n > 1 && m != 0;", "auto s = text.substr(7);", "constexpr std::array<int, 4> kAll = {{1, 2}};"):
            self.assertEqual(scaled(text), [], text)

    def test_statements(self):
        self.assertEqual(changed("{\n    total += part;"), ["total -= part;", ";"])
        self.assertEqual(changed("{\n    if (done) return;\n    go();"), ["if (done) ;", ";"])
        self.assertEqual(changed("{\n    const int part = whole;"), [])

    def test_last_return_stays(self):
        self.assertEqual(changed("int f() {\n  return x;\n}\n"), [])

    def test_only_code(self):
        for text in ("// a < 1", "/* a\n < 1 */", '#include "a+1"', 'auto s = "a < 1 \\" + 2";', "char c = '1';",
                     'auto s = R"(a < 1 " + 2)";', "static_assert(kBytes == 4);", "std::array<int, 4> a;", "auto n = 0xff;", "auto n2 = a1;"):  # fmt: skip
            self.assertEqual(changed(text), [], text)

    def test_entries_name_one_change_or_every_one_of_a_line(self):
        less, plus = mutants_of("models/a.cpp", "bool f = a < b + c;\n")
        line = {"file": "models/a.cpp", "was": "bool f = a < b + c;"}
        self.assertTrue(less.is_listed_as(line) and plus.is_listed_as(line))
        one = line | {"becomes": "bool f = a <= b + c;"}
        self.assertTrue(less.is_listed_as(one))
        self.assertFalse(plus.is_listed_as(one))
        self.assertFalse(less.is_listed_as(line | {"file": "models/b.cpp"}))

    def test_every_entry_is_about_a_change_of_today(self):
        for entry in tomllib.loads((ROOT / "scripts/mutants/equivalent.toml").read_text())["mutant"]:
            text = (ROOT / entry["file"]).read_text()
            changes = [mutant for kind in (replacements, tenfold) for mutant in mutants_of(entry["file"], text, kind)]
            self.assertTrue(any(mutant.is_listed_as(entry) for mutant in changes), f"{entry['file']}: {entry['was']}")
            self.assertTrue(entry["reason"])

    def test_the_seed_decides_and_an_edit_elsewhere_does_not(self):
        lines = "a = b < c;\nd = e + f;\ng = h * 2;\n"
        first = [mutant.becomes for mutant in shuffled(mutants_of("models/a.cpp", lines), 1)]
        moved = [mutant.becomes for mutant in shuffled(mutants_of("models/a.cpp", "\n\n" + lines), 1)]
        self.assertEqual(first, moved)


if __name__ == "__main__":
    unittest.main()
