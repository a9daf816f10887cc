"""Many configurations at once, by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._progress import ProgressBar
from smplan._request import arguments_of, environment_region, show_keywords
from smplan._usual_catalog import usual_catalog

if TYPE_CHECKING:
    import numpy
    import pandas

    Column = Union[int, str, bool, Sequence[int], Sequence[str], "numpy.ndarray[Any, Any]"]

_UNKNOWN = -1
_DIMENSIONS: Dict[str, Dict[str, Any]] = {row["keyword"]: row for row in _core.dimensions}


class BatchEstimate:
    """Results by column: numpy arrays over the native memory, not copies. Rows that cannot be priced have zeros.

    One entry a row, in the shape that the columns were broadcast to.

    >>> import smplan
    >>> batch = smplan.estimate_batch(model="gpt2", instances="ml.g5.xlarge", stack="ddp", micro_batch=[1, 2])
    >>> batch.step_time_s.shape, batch.peak_gib.flags.owndata, len(batch)
    ((2,), False, 2)
    """

    statuses: Tuple[str, ...] = _core.batch_statuses

    def __init__(self, columns: Dict[str, Any], given: Dict[str, Any], shape: Tuple[int, ...]) -> None:
        import numpy

        self._given = given
        #: Why a row is no plan: indices into `statuses`, 0 is "fits".
        self.status: numpy.ndarray[Any, Any] = numpy.asarray(columns["status"]).reshape(shape)
        #: Peak device memory that a row wants, whatever the device has.
        self.peak_gib: numpy.ndarray[Any, Any] = numpy.asarray(columns["peak_gib"]).reshape(shape)
        #: Chance that the device's memory does not suffice; a row fits where it is at most one half.
        self.out_of_memory_probability: numpy.ndarray[Any, Any] = (
            numpy.asarray(columns["out_of_memory_probability"]).reshape(shape))
        #: Seconds of one optimizer step.
        self.step_time_s: numpy.ndarray[Any, Any] = numpy.asarray(columns["step_time_s"]).reshape(shape)
        #: Whole job.
        self.tokens_per_s: numpy.ndarray[Any, Any] = numpy.asarray(columns["tokens_per_s"]).reshape(shape)
        #: Model FLOPs utilisation, a fraction.
        self.mfu: numpy.ndarray[Any, Any] = numpy.asarray(columns["mfu"]).reshape(shape)
        #: What one device offers.
        self.limit_gib: float = columns["limit_gib"]

    @property
    def fits(self) -> numpy.ndarray[Any, Any]:
        """Which rows are valid and likelier to fit into the device's memory than not."""
        fits: numpy.ndarray[Any, Any] = self.status == 0
        return fits

    @property
    def varied(self) -> Tuple[str, ...]:
        """Names of the dimensions that were given as arrays."""
        return tuple(self._given)

    def fastest(self, most: int = 1, max_oom_probability: float = 0.05) -> List[Tuple[int, Tuple[Any, ...]]]:
        """The rows with the shortest step, best first: flat index, and the values of what was `varied`.

        Only rows that fit with at most that chance to run out of memory: plan() draws the line there too.
        """
        import numpy

        fitting = numpy.flatnonzero(self.fits & (self.out_of_memory_probability <= max_oom_probability))
        best = fitting[numpy.argsort(self.step_time_s.ravel()[fitting], kind="stable")][:most]
        return [(int(at), tuple(column.flat[at] for column in self._given.values())) for at in best]

    def to_pandas(self) -> pandas.DataFrame:
        """What was given and what came of it, one row a configuration. Needs pandas."""
        import pandas

        columns = {name: column.ravel() for name, column in self._given.items()}
        columns["status"] = pandas.Categorical.from_codes(self.status.ravel(), categories=list(self.statuses))
        for name in ("peak_gib", "out_of_memory_probability", "step_time_s", "tokens_per_s", "mfu"):
            columns[name] = getattr(self, name).ravel()
        return pandas.DataFrame(columns)

    def __len__(self) -> int:
        return int(self.status.size)

    def __eq__(self, other: object) -> bool:
        import numpy

        if not isinstance(other, BatchEstimate):
            return NotImplemented
        ours, theirs = vars(self), vars(other)
        columns = ours.keys() - {"_given"}
        return (self.varied == other.varied
                and all(numpy.array_equal(ours[name], theirs[name]) for name in columns)
                and all(numpy.array_equal(mine, yours) for mine, yours in zip(self._given.values(), other._given.values())))

    __hash__ = None  # type: ignore[assignment]  # arrays may be written to

    def __repr__(self) -> str:
        return f"BatchEstimate({len(self)} configurations, {int(self.fits.sum())} fit)"

    def _repr_html_(self) -> str:
        rows = [(*(str(value) for value in given), f"{self.step_time_s.flat[at]:.3g} s", f"{100 * self.mfu.flat[at]:.1f} %",
                 f"{self.peak_gib.flat[at]:.3g} of {self.limit_gib:.3g} GiB") for at, given in self.fastest(5)]
        return _html.table([*self.varied, "step", "MFU", "memory"], rows, f"{self!r}, the fastest of them")


def _takes_columns(function: Callable[..., BatchEstimate]) -> Callable[..., BatchEstimate]:
    return show_keywords(function, {name: "Optional[Column]" for name in _DIMENSIONS}, others=True)


@_takes_columns
def estimate_batch(*, catalog: Optional[_core.Catalog] = None, instances: str, stack: str, count: Column = 1,
                   **request: Any) -> BatchEstimate:
    """Memory and step time of many configurations of one model on one instance type under one stack. Needs numpy.

    `count` and every dimension of a strategy (tp, pp, recompute, offload ...) is a number, a name or an array of them;
    they are broadcast against each other as numpy does. A dimension that is not given is plain: degrees are 1, nothing
    is recomputed or offloaded, `sharding` and `collectives` are the stack's default, several chunks are interleaved.
    `dp` 0 is what the other degrees leave of the devices, `shard_degree` 0 is dp * cp (1 without sharding), `etp` 0 is
    what follows from ep and tp, `recompute_layers` 0 is all. The other keywords are those of plan(): model, tokens,
    seq_len, global_batch, dtype ... The numbers are those of estimate(); about a million configurations take a second
    of one core. Raises InputError with every fault. Ctrl-C is obeyed; shows progress with tqdm if that is installed.

    >>> import numpy, smplan
    >>> batch = smplan.estimate_batch(model="llama-2-13b", instances="ml.p4d.24xlarge", stack="megatron", count=4,
    ...                               tp=numpy.array([1, 2, 4, 8, 16]), sharding="zero1")
    >>> [batch.statuses[code] for code in batch.status]
    ['too_large', 'too_large', 'fits', 'fits', 'divisibility']
    """
    import numpy

    if request.get("zero_stage") is not None:
        raise InputError([Diagnostic("unknown-name", "zero_stage", "is no column of a batch",
                                     "give sharding: zero1, zero2, zero3, fsdp-full ...")])
    columns: Dict[str, Any] = {"count": count}
    for name in _DIMENSIONS:
        value = request.pop(name, None)
        if value is not None:
            columns[name] = value
    arrays = {name: _numbers(name, value) for name, value in columns.items()}
    shape = _common_shape(arrays)
    flat = {name: numpy.ascontiguousarray(numpy.broadcast_to(array, shape)).ravel() for name, array in arrays.items()}
    # The request is for the hardware and the work; its own degrees are any.
    known = {**request, "instances": instances, "stack": stack, "count": 1}
    with arguments_of(known) as arguments, ProgressBar("estimate_batch") as bar:
        answer = _core.estimate_batch(usual_catalog(catalog), arguments,
                                      environment_region(), flat, bar)
    shown = {name: numpy.broadcast_to(numpy.asarray(value), shape) for name, value in columns.items()
             if numpy.ndim(value) > 0}
    return BatchEstimate(answer, shown, shape)


def _numbers(name: str, value: Any) -> Any:
    """A column as the native half counts it."""
    row = _DIMENSIONS.get(name, {"kind": "degree", "least": 1})
    if row["kind"] == "words":
        return _codes(name, value, row["names"])
    return _booleans(name, value) if row["kind"] == "switch" else _integers(name, value, row["least"])


def _integers(name: str, value: Any, least: int) -> Any:
    import numpy

    array = numpy.asarray(value)
    if array.dtype.kind not in "iu":
        raise InputError([Diagnostic("wrong-kind", name, f"holds {array.dtype}", "give whole numbers")])
    if array.size and (array.min() < least or array.max() > 1 << 20):
        raise InputError([Diagnostic("out-of-range", name, f"holds {array.min()} to {array.max()}",
                                     f"from {least} to {1 << 20}")])
    return array.astype(numpy.int32)


def _booleans(name: str, value: Any) -> Any:
    import numpy

    array = numpy.asarray(value)
    if array.dtype.kind != "b":
        raise InputError([Diagnostic("wrong-kind", name, f"holds {array.dtype}", "give True and False")])
    return array.astype(numpy.int32)


def _common_shape(arrays: Dict[str, Any]) -> Tuple[int, ...]:
    import numpy

    try:
        return numpy.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.ndim > 0)
        raise InputError([Diagnostic("shape-mismatch", "columns", f"the shapes do not go together: {shapes}",
                                     "give columns of one length, or of shapes that numpy broadcasts")]) from None


def _codes(name: str, value: Any, names: Mapping[str, int]) -> Any:
    import numpy

    given = numpy.asarray(value)
    if given.dtype.kind not in "UO":
        raise InputError([Diagnostic("wrong-kind", name, f"holds {given.dtype}", f"one of {', '.join(names)}")])
    given = given.astype(str, copy=False)
    codes = numpy.full(given.shape, _UNKNOWN, numpy.int32)
    # One comparison a name is far cheaper than sorting a million of them.
    for known, code in names.items():
        codes[given == known] = code
    unknown = numpy.unique(given[codes == _UNKNOWN])
    if unknown.size:
        raise InputError([Diagnostic("unknown-name", name, f"unknown {name} '{word}'", f"one of {', '.join(names)}")
                          for word in unknown])
    return codes
