"""Compares counts of tokens with those of Hugging Face's tokenizers, for every kind of tokenizer.json that smplan reads.

usage: token_counts.py SMPLAN_COUNT_TOKENS FOLDER [TEXTS [SEED]]    (FOLDER: tests/data/tokenizers)

tokenizer_kinds.py made the files of FOLDER.
"""

import json
import subprocess
import sys
from pathlib import Path

from tokenizer_kinds import KINDS, SENTENCES, counts_of, random_texts
from tokenizers import Tokenizer


def counted(program, path, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([program, str(path)], input=lines, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{path.name}: {done.stderr or done.returncode}")
    return done.stdout.splitlines()


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    count, seed = int((sys.argv[3:] or ["4000"])[0]), int((sys.argv[4:] or ["11"])[0])
    texts = (
        SENTENCES
        + list(random_texts(seed, count))
        + [" ".join(SENTENCES) * 20, "a" * 5000, " " * 3000, "\u4e2d" * 2000]
    )
    faults = []
    for name in KINDS:
        path = folder / f"{name}.json"
        wanted = counts_of(Tokenizer.from_file(str(path)), texts)
        found = counted(program, path, texts)
        wrong = [(text, a, b) for text, a, b in zip(texts, wanted, found) if str(a) != b]
        if len(found) != len(texts) or wrong:
            faults.append(name)
        print(f"{name}: {len(texts)} texts, {sum(wanted)} tokens, {len(wrong)} differ")
        for text, a, b in sorted(wrong, key=lambda one: len(one[0]))[:3]:
            print(f"    {ascii(text[:200])}: {a} tokens, smplan counts {b}")
    if faults:
        sys.exit(f"counts differ: {', '.join(faults)}")


if __name__ == "__main__":
    main()
