"""Methods of fine-tuning side by side: finetune()."""

from __future__ import annotations

import os
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._keywords import to_text
from smplan._request import arguments_of, environment_region
from smplan._rows import Rows
from smplan._usual_catalog import usual_catalog
from smplan._views import View


class FineTuningMethod(View):
    """The best plan of one method; `instance_type` and what follows from it are None where there is none, and `why_not`
    says why. Money in USD, memory in GiB, times in seconds; `steps` are optimizer steps, `tokens` count padding.

    >>> import smplan
    >>> lora = smplan.finetune(model="llama-3.1-8b", examples=1000, length=500, methods="lora").best
    >>> lora.method, lora.trained_parameters
    ('lora', 41943040)
    """

    __slots__ = ()
    method: str
    instance_type: Optional[str]
    instance_count: Optional[int]
    stack: Optional[str]
    strategy: Optional[str]
    launch: Optional[str]
    peak_gib: Optional[float]
    limit_gib: Optional[float]
    out_of_memory_probability: Optional[float]
    step_time_s: Optional[float]
    steps: int
    tokens: float
    seq_len: int
    mean_seq_len: int
    data: str
    time_to_train_s: Optional[float]
    total_usd: Optional[float]
    total_p10_usd: Optional[float]
    total_p90_usd: Optional[float]
    trained_parameters: int
    saved_bytes: float
    quality: str
    quality_source: str
    why_not: Optional[str]
    command: str


class FineTuning(Rows[FineTuningMethod]):
    """Methods in the order asked for. `best` is the cheapest with a price, None if there is none.

    >>> import smplan
    >>> smplan.finetune(model="llama-3.1-8b", examples=1000, length=500, methods=["lora", "qlora"])
    FineTuning(lora, qlora)
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, FineTuningMethod)

    @property
    def best(self) -> Optional[FineTuningMethod]:
        """The cheapest method, of those with a price."""
        priced = [row for row in self if row.total_usd is not None]
        return min(priced, key=lambda row: row.total_usd or 0.0) if priced else None

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, FineTuning) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Tuple[Any, ...]:
        return FineTuning, (self._text,)

    def __repr__(self) -> str:
        return f"FineTuning({', '.join(row.method for row in self)})"

    def _repr_html_(self) -> str:
        rows = []
        for row in self:
            answer = ([str(row.why_not), "", "", ""] if row.instance_type is None else
                      [f"{row.instance_count} x {row.instance_type}", str(row.stack), _html.days(row.time_to_train_s or 0.0),
                       "-" if row.total_usd is None else _html.dollars(row.total_usd)])
            rows.append([row.method, *answer])
        return _html.table(["method", "instances", "stack", "time", "cost"], rows, repr(self))


def _lengths(answer: Any) -> List[int]:
    """Of what a tokenizer makes of texts: one list of numbers, or one encoding, a text."""
    found = answer["input_ids"] if hasattr(answer, "keys") else answer
    return [len(getattr(one, "ids", one)) for one in found]


def _counter(tokenizer: Any) -> Tuple[Callable[[List[str]], List[int]], int]:
    """A function from texts to their lengths, and what a sequence gets besides. Takes a tokenizer of Hugging Face, of
    either library, and anything that encodes one text."""
    if hasattr(tokenizer, "encode_batch"):  # tokenizers.Tokenizer; others, such as tiktoken's, have no special tokens
        batch = tokenizer.encode_batch
        try:
            _lengths(batch([""], add_special_tokens=False))
        except TypeError:
            return lambda texts: _lengths(batch(texts)), 0
        return (lambda texts: _lengths(batch(texts, add_special_tokens=False)),
                _lengths(batch([""], add_special_tokens=True))[0])
    if callable(tokenizer):  # a tokenizer of transformers
        return (lambda texts: _lengths(tokenizer(texts, add_special_tokens=False)),
                _lengths(tokenizer([""], add_special_tokens=True))[0])
    if not callable(getattr(tokenizer, "encode", None)):
        raise InputError([Diagnostic(
            "wrong-kind", "tokenizer", f"cannot be {type(tokenizer).__name__}",
            "give the path of a tokenizer.json, or an object with encode()")])
    return lambda texts: _lengths(tokenizer.encode(text) for text in texts), 0


def finetune(*, data: Union[str, os.PathLike[str], None] = None, examples: Union[int, str, None] = None,
             length: Union[int, str, None] = None, lengths: Optional[Sequence[int]] = None,
             tokenizer: Any = None, characters_per_token: Union[float, str, None] = None,
             epochs: Union[float, str, None] = None,
             packing: Optional[str] = None, methods: Union[str, Sequence[str], None] = None,
             evaluation: Union[float, str, None] = None, catalog: Optional[_core.Catalog] = None,
             **request: Any) -> FineTuning:
    """Plans each method of fine-tuning on the same data: memory, time, money, what is trained.

    The data: `data`, a file of JSON lines; or `lengths`, the tokens of each sequence, as your tokenizer counts them (of
    a pair two, one after the other); or `examples` of `length` tokens each. `tokenizer` counts the text of `data`: the
    path of a tokenizer.json, a tokenizer of `tokenizers` or `transformers`, or anything that encodes a text. Each row
    says in `data` by what was counted. The other keywords are the flags of `smplan finetune`, and of its request those
    of plan(). Raises InputError with every fault. Ctrl-C is obeyed.

    >>> import smplan
    >>> answer = smplan.finetune(model="llama-3.1-8b", lengths=[400, 900, 1300] * 100, methods=["full", "lora"])
    >>> [row.method for row in answer], answer.best.method
    (['full', 'lora'], 'lora')
    """
    given = {"data": data, "examples": examples, "length": length, "characters_per_token": characters_per_token,
             "epochs": epochs, "packing": packing, "methods": methods, "evaluation": evaluation}
    words = {name: to_text(name, value) for name, value in given.items() if value is not None}
    count, added = None, 0
    if isinstance(tokenizer, (str, os.PathLike)):
        words["tokenizer"] = to_text("tokenizer", tokenizer)
    elif tokenizer is not None:
        count, added = _counter(tokenizer)
    tokens = [int(n) for n in lengths] if lengths is not None else []
    held = usual_catalog(catalog)
    with arguments_of(request) as arguments:
        return FineTuning(_core.finetune(held, arguments, words, tokens, count, added, environment_region(),
                                         _core.now()))
