"""Small tokenizers of every kind that smplan reads, made by Hugging Face's tokenizers, and texts that are hard to count.

usage: tokenizer_kinds.py FOLDER    writes FOLDER/NAME.json of each, and FOLDER/counts.json with what the library counts

tests/data/tokenizers is that folder. The texts that they are trained on are written here. Trainers break ties in any
order, so that files and counts change together when they are made anew.
"""

import itertools
import json
import random
import struct
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
HAN_APART = (
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}&&[^\p{Han}]]+|\p{N}{,3}\b|[\w&&[^\W\d]&&[^[:alpha:]]]+|\h++"
    r"| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)

SENTENCES = [
    "The captain counts the tokens of every sentence before the ship leaves the harbour.",
    "Don't they'll say we've lost: she's counted 1234 boxes, 56.78 kg each, on 2026-11-28!",
    "Der Müller prüft Größe und Gewicht; das Schiff fährt früh über den Fluß.",
    "L'élève a déjà mangé à l'hôtel, où il préfère être près de la fenêtre.",
    "Корабль выходит из гавани, и капитан считает все слова.",
    "船長在港口數著每一句話裡的字。今日は良い天気ですね。",
    "배가 항구를 떠나기 전에 선장은 단어를 센다.",
    "السفينة تغادر الميناء والقبطان يعد الكلمات.",
    "जहाज बंदरगाह छोड़ता है और कप्तान शब्द गिनता है।",
    "def count(text):\n    return sum(len(word) for word in text.split())  # tabs\tand  spaces\n",
    "int main() { for (int i = 0; i < 100; ++i) { total += i * 2; } return total; }\r\n",
    "A smile \U0001f600 and a family \U0001f468\u200d\U0001f469\u200d\U0001f467, e\u0301 as two, é as one, ﬁ as one.",
]
# fmt: off
ATOMS = [
    " ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\u200d",
    "\ufeff", "\u180e", "a", "b", "the", "The", "THE", "ing", "count", "tokens", "don't", "I'LL", "'s", "'\u017f",
    "'", "''", "\u2019s", "0", "7", "12", "123", "1234567", "3.14", "1,000", "\u00bd", "\u00b2", "\u0663", "\u0968",
    "\u2167", "\u3007", "\u00e9", "e\u0301", "o\u0308\u0304", "\u0301", "\u00c5", "\u212b", "\u0130", "\u00df",
    "\u1e9e", "\u01c5", "\ufb01", "\uff21\uff22", "\uff11", "\u2460", "\u33a5", "\u0e33", "\u4e2d", "\u6587",
    "\u65e5\u672c", "\u3042\u30a2", "\u30fc", "\ud55c\uad6d", "\u1100\u1161\u11a8", "\u0645\u0631",
    "\u0915\u094d\u0937\u093f", "\u0e01\u0e33", "\U00020000", "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\u00ad", "\u202e",
    "\ue000", "\ufffd", "\x00", "\x01", "\x1b", "\x7f", "\u2581", "\u2581the", "_", "-", "\u2014", "...", "\u2026",
    "\u3002", "!", "?!", "/", "\\", "<", ">", "[", "]", "{", "}", "$", "\u20ac", "+", "=", "^", "`", "|", "~", "#",
    "@", "##ing", "<s>", "</s>", "<unk>", "<|end|>", "<|END|>", "[CLS]", "[MASK]", "<0x41>", "Captain", "captain",
    "ship",
]
# fmt: on


def random_texts(seed, count):
    """Texts of atoms, of sentences and of any characters, some long."""
    draw = random.Random(seed)
    planes = [
        (0x20, 0x7E),
        (0xA0, 0x24F),
        (0x300, 0x36F),
        (0x370, 0x4FF),
        (0x5D0, 0x5EA),
        (0x900, 0x94D),
        (0x2000, 0x206F),
        (0x2190, 0x22FF),
        (0x3040, 0x30FF),
        (0x4E00, 0x9FA5),
        (0xAC00, 0xD7A3),
        (0xFF01, 0xFF5E),
        (0x1F300, 0x1F5FF),
    ]
    for number in range(count):
        kind = number % 4
        if kind < 2:
            yield "".join(draw.choice(ATOMS) for _ in range(draw.randint(0, 12 if kind else 40)))
        elif kind == 2:
            words = " ".join(draw.choice(SENTENCES) for _ in range(draw.randint(1, 3)))
            at = draw.randrange(len(words))
            yield words[at:] + draw.choice(ATOMS) + words[:at]
        else:
            yield "".join(chr(draw.randint(*draw.choice(planes))) for _ in range(draw.randint(1, 30)))


def character_map(pairs):
    """sentencepiece's table of replacements: a double-array trie and the texts that it points to."""
    texts, trie = b"", {}
    for source, target in sorted(pairs.items()):
        node = trie
        for byte in source.encode():
            node = node.setdefault(byte, {})
        node[None] = len(texts)
        texts += target.encode() + b"\0"
    units, used = {0: 0}, {0}

    def place(node, at):
        labels = [0 if byte is None else byte for byte in node]
        offset = next(o for o in itertools.count(1) if all((at ^ o ^ b) not in used for b in labels) and o < 1 << 21)
        used.update(at ^ offset ^ label for label in labels)
        units[at] |= offset << 10 | (1 << 8 if None in node else 0)
        for byte, child in node.items():
            place_at = at ^ offset ^ (byte or 0)
            units[place_at] = child | 1 << 31 if byte is None else byte
        for byte, child in node.items():
            if byte is not None:
                place(child, at ^ offset ^ byte)

    place(trie, 0)
    array = [units.get(at, 0) for at in range(max(used) + 256)]
    return struct.pack(f"<I{len(array)}I", 4 * len(array), *array) + texts


def trained(tokenizer, trainer):
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    return tokenizer


def byte_bpe(*, normalizer=None, pre_tokenizer=None, post_processor=None, size=360, tokens=("<|end|>",), **model):
    out = Tokenizer(models.BPE(**model))
    if normalizer:
        out.normalizer = normalizer
    out.pre_tokenizer = pre_tokenizer
    out.decoder = decoders.ByteLevel()
    suffix = {name: model[name] for name in ["end_of_word_suffix"] if name in model}
    trained(
        out,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(tokens),
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            **suffix,
        ),
    )
    if post_processor:
        out.post_processor = post_processor
    return out


def byte_level(prefix=False, regex=True):
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def steps(*parts):
    return pre_tokenizers.Sequence(list(parts))


def begins_with(token, number=0):
    return processors.TemplateProcessing(
        single=f"{token} $A", pair=f"{token} $A {token} $B", special_tokens=[(token, number)]
    )


def sentencepiece_bpe(normalizer, pre_tokenizer=None, **options):
    """Text with blanks made visible, and tokens for the bytes of unknown characters."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    out = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    out.normalizer = normalizers.Replace(" ", "\u2581")
    out.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
    trained(out, trainers.BpeTrainer(vocab_size=500, special_tokens=special, show_progress=False, limit_alphabet=60))
    text = json.loads(out.to_str())
    text["added_tokens"] = [dict(token, **options) for token in text["added_tokens"][:3]]
    text["normalizer"] = text["pre_tokenizer"] = None
    out = Tokenizer.from_str(json.dumps(text))
    if normalizer:
        out.normalizer = normalizer
    if pre_tokenizer:
        out.pre_tokenizer = pre_tokenizer
    out.post_processor = begins_with("<s>", 1)
    return out


def unigram(normalizer, pre_tokenizer, *, byte_fallback=False):
    out = Tokenizer(models.Unigram())
    out.normalizer = normalizer
    out.pre_tokenizer = pre_tokenizer
    special = ["<unk>", "</s>"] + ([f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else [])
    trained(
        out,
        trainers.UnigramTrainer(
            vocab_size=300 + len(special), special_tokens=special, unk_token="<unk>", show_progress=False
        ),
    )
    text = json.loads(out.to_str())
    text["model"]["byte_fallback"] = byte_fallback
    text["added_tokens"] = text["added_tokens"][:2]
    # Scores of few digits are the same wherever they are read.
    text["model"]["vocab"] = [[token, round(score, 3)] for token, score in text["model"]["vocab"]]
    out = Tokenizer.from_str(json.dumps(text))
    out.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return out


def word_piece(lowercase):
    out = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    out.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trained(out, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False))
    out.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    out.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return out


def word_level():
    out = Tokenizer(models.WordLevel(unk_token="<unk>"))
    out.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Strip()])
    out.pre_tokenizer = steps(
        pre_tokenizers.Whitespace(),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Punctuation("merged_with_previous"),
    )
    trained(out, trainers.WordLevelTrainer(vocab_size=100, special_tokens=["<unk>"], show_progress=False))
    out.add_tokens(
        [AddedToken("ship", single_word=True), AddedToken("the", single_word=True, lstrip=True, rstrip=True)]
    )
    return out


def word_level_by_length():
    out = Tokenizer(models.WordLevel(unk_token="<unk>"))
    out.normalizer = normalizers.Nmt()
    out.pre_tokenizer = steps(pre_tokenizers.CharDelimiterSplit("-"), pre_tokenizers.FixedLength(length=3))
    return trained(out, trainers.WordLevelTrainer(vocab_size=50, special_tokens=["<unk>"], show_progress=False))


def lower_with_added_tokens():
    out = byte_bpe(
        normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), pre_tokenizer=byte_level()
    )
    out.add_tokens(
        [
            AddedToken("Captain", normalized=True),
            AddedToken("  ", normalized=False),
            AddedToken("   ", normalized=False),
            AddedToken("harbour", normalized=False, rstrip=True),
            AddedToken("e\u0301", normalized=True),
        ]
    )
    out.add_special_tokens([AddedToken("<s>", lstrip=True), AddedToken("</s>", rstrip=True)])
    return out


def character_map_kind():
    pairs = {
        "\ufb01": "fi",
        "\t": " ",
        "\n": " ",
        "\r": " ",
        "\u3000": " ",
        "\u00a0": " ",
        "\u200b": "",
        "\uff21": "A",
        "\uff22": "B",
        "e\u0301": "\u00e9",
        "\u2026": "...",
        "\u00bd": "1/2",
        "\uff11": "1",
        "\x01": "",
        "\u00c5": "A",
    }
    table = normalizers.Precompiled(character_map(pairs))
    return unigram(
        normalizers.Sequence([table, normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Metaspace(prepend_scheme="always"),
    )


KINDS = {
    "gpt2": lambda: byte_bpe(pre_tokenizer=byte_level(), post_processor=processors.ByteLevel()),
    "roberta": lambda: byte_bpe(
        pre_tokenizer=byte_level(prefix=True),
        tokens=["<s>", "</s>", "<|end|>"],
        post_processor=processors.RobertaProcessing(("</s>", 1), ("<s>", 0)),
    ),
    "llama3": lambda: byte_bpe(
        pre_tokenizer=steps(split(LLAMA3), byte_level(regex=False)),
        ignore_merges=True,
        post_processor=processors.Sequence([processors.ByteLevel(), begins_with("<|end|>")]),
    ),
    "qwen2": lambda: byte_bpe(normalizer=normalizers.NFC(), pre_tokenizer=steps(split(QWEN2), byte_level(regex=False))),
    "o200k": lambda: byte_bpe(pre_tokenizer=steps(split(O200K, "removed", True), byte_level(regex=False))),
    "deepseek": lambda: byte_bpe(
        pre_tokenizer=steps(
            split(r"\p{N}{1,3}"),
            split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
            split(DEEPSEEK),
            byte_level(regex=False),
        )
    ),
    "bloom": lambda: byte_bpe(pre_tokenizer=steps(split(BLOOM), byte_level(regex=False))),
    "falcon": lambda: byte_bpe(
        pre_tokenizer=steps(
            pre_tokenizers.Punctuation("contiguous"), byte_level(), pre_tokenizers.Digits(), split("[0-9][0-9][0-9]")
        )
    ),
    "starcoder": lambda: byte_bpe(pre_tokenizer=steps(pre_tokenizers.Digits(individual_digits=True), byte_level())),
    "clip": lambda: byte_bpe(
        normalizer=normalizers.Sequence(
            [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
        ),
        pre_tokenizer=steps(split(CLIP, "removed", True), byte_level(regex=False)),
        unk_token="<|end|>",
        end_of_word_suffix="</w>",
    ),
    "han_apart": lambda: byte_bpe(pre_tokenizer=steps(split(HAN_APART), byte_level(regex=False))),
    "bytes_first": lambda: byte_bpe(normalizer=normalizers.ByteLevel(), pre_tokenizer=split(r"[a-z]+", "contiguous")),
    "added": lower_with_added_tokens,
    "llama2": lambda: sentencepiece_bpe(
        normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]), normalized=True
    ),
    "llama2_first": lambda: sentencepiece_bpe(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
    "gemma": lambda: sentencepiece_bpe(
        normalizers.Replace(" ", "\u2581"), pre_tokenizers.Split(" ", "merged_with_previous")
    ),
    "bert": lambda: word_piece(True),
    "bert_cased": lambda: word_piece(False),
    "t5": character_map_kind,
    "xlm": lambda: unigram(
        normalizers.Sequence([normalizers.NFKC(), normalizers.Strip()]),
        steps(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")),
    ),
    "unigram_bytes": lambda: unigram(
        normalizers.NFKD(), pre_tokenizers.Metaspace(prepend_scheme="never"), byte_fallback=True
    ),
    "words": word_level,
    "words_by_length": word_level_by_length,
}


def counts_of(tokenizer, texts):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]


def main():
    folder = Path(sys.argv[1])
    texts = SENTENCES + ["", " ", "\n"] + list(random_texts(7, 40))
    counts = {"texts": texts, "counts": {}}
    for name, make in KINDS.items():
        tokenizer = make()
        (folder / f"{name}.json").write_text(tokenizer.to_str(pretty=False) + "\n", encoding="utf-8")
        counts["counts"][name] = counts_of(tokenizer, texts)
    (folder / "counts.json").write_text(json.dumps(counts, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
