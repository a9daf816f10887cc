#!/usr/bin/env -S python3 -P
"""What one processor prepares of a data set a second: JPEG images decoded and cut for training, text made tokens.

Needs numpy, pillow and tokenizers (tried with 2.4, 13.0 and 0.23). Times are those of the processor, so that other
work on the machine does not count. Images are made, of the size and compression of ImageNet's (about 500 x 375, 110 kB),
and prepared as torchvision's reference scripts do: decoded, a random part resized to 224 x 224, mirrored at random,
turned into normalised floats. Text is made of words drawn by Zipf's law and cut by a byte-level BPE of 32,000 tokens,
which is trained on it. Bytes are those that are read: of the JPEG, of the text.

    scripts/fit/loader_rates.py          prints MB/s of one processor; catalogs/data/operations.json keeps them
"""
import io
import random
import time

import numpy
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

SECONDS = 8


def photograph(random_numbers) -> bytes:
    """Smooth shapes with fine grain on top, as compression finds in photographs."""
    small = random_numbers.integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
    picture = numpy.asarray(Image.fromarray(small).resize((500, 375), Image.BICUBIC), dtype=numpy.int16)
    grain = random_numbers.normal(0, 17, picture.shape)
    out = io.BytesIO()
    Image.fromarray(numpy.clip(picture + grain, 0, 255).astype(numpy.uint8)).save(out, "JPEG", quality=91)
    return out.getvalue()


def prepare(jpeg: bytes) -> numpy.ndarray:
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    width, height = image.size
    area = random.uniform(0.08, 1) * width * height
    ratio = random.uniform(0.75, 4 / 3)
    w, h = min(width, int((area * ratio) ** 0.5)), min(height, int((area / ratio) ** 0.5))
    x, y = random.randint(0, width - w), random.randint(0, height - h)
    image = image.resize((224, 224), Image.BILINEAR, box=(x, y, x + w, y + h))
    if random.random() < 0.5:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    values = numpy.asarray(image, dtype=numpy.float32) / 255
    return (values - numpy.float32(0.45)) / numpy.float32(0.225)


def text_of(random_numbers, words: int) -> str:
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    kinds = ["".join(random.choices(letters, weights=range(26, 0, -1), k=random.randint(2, 9))) for _ in range(40000)]
    ranks = numpy.minimum(random_numbers.zipf(1.2, words), len(kinds)) - 1
    return " ".join(kinds[rank] for rank in ranks)


def rate_of(work, items, size) -> float:
    """MB/s of one processor."""
    done, begin = 0, time.process_time()
    while time.process_time() - begin < SECONDS:
        item = items[done % len(items)]
        work(item)
        done += 1
    return done * size / (time.process_time() - begin) / 1e6


def main() -> None:
    random.seed(0)
    random_numbers = numpy.random.default_rng(0)
    jpegs = [photograph(random_numbers) for _ in range(64)]
    mean = sum(map(len, jpegs)) / len(jpegs)
    images = rate_of(prepare, jpegs, mean)
    print(f"JPEG images of {mean / 1e3:.0f} kB: {images:.1f} MB/s, {images * 1e6 / mean:.0f} images a second")

    texts = [text_of(random_numbers, 2000) for _ in range(64)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(texts * 4, trainers.BpeTrainer(vocab_size=32000, show_progress=False))
    mean = sum(len(text.encode()) for text in texts) / len(texts)
    tokens = sum(len(tokenizer.encode(text).ids) for text in texts) / len(texts)
    rate = rate_of(tokenizer.encode, texts, mean)
    print(f"text: {rate:.1f} MB/s, {rate * 1e6 / mean * tokens / 1e6:.2f}M tokens a second")


if __name__ == "__main__":
    main()
