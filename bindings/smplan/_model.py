"""A model: the widths that decide its parameters, FLOPs and bytes."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, NoReturn, Optional, Tuple, Union

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._keywords import to_text
from smplan._usual_catalog import usual_catalog


class Model:
    """A model of the catalog, by its name or an alias; the class methods make others.

    `left_out` says what a config.json describes and this leaves out, such as a vision tower; empty: nothing.
    Hand it to plan() and estimate() as `model`. Raises InputError for unknown names, with the nearest ones.

    >>> import smplan
    >>> model = smplan.Model("llama-2-13b")
    >>> model.n_layers, model.hidden, model.parameters
    (40, 5120, 13015864320)
    """

    name: str
    family: str
    model_type: str
    kind: str
    parameters: int
    active_parameters: int
    n_layers: int
    n_encoder_layers: int
    hidden: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn_hidden: int
    gated_mlp: bool
    vocab: int
    max_positions: int
    tied_embeddings: bool
    n_experts: int
    experts_per_token: int
    expert_ffn_hidden: int
    left_out: str
    aliases: Tuple[str, ...]
    source: Optional[str]
    as_of: Optional[str]

    __slots__ = ("_facts", "_origin")

    def __init__(self, name: str, *, catalog: Optional[_core.Catalog] = None) -> None:
        facts = _core.model_preset(usual_catalog(catalog), name)
        self._set(facts, ("model", facts["name"]))

    @classmethod
    def from_params(cls, params: Union[int, float, str]) -> Model:
        """The model that a size stands for: `"13B"`, 13e9."""
        text = to_text("params", params)
        return cls._made(_core.model_of_size(text), ("params", text))

    @classmethod
    def from_hf_config(cls, config: Union[str, os.PathLike[str], Mapping[str, Any]]) -> Model:
        """From a Hugging Face config.json: its path, or what it holds (`AutoConfig.to_dict()`)."""
        document, name = _document(config)
        return cls._made(_core.model_of_hf_config(json.dumps(document), name), ("hf_config", document))

    @classmethod
    def from_arch(cls, arch: Union[str, os.PathLike[str], Mapping[str, Any]]) -> Model:
        """From an architecture file (`smplan.architecture/1`): its path, or what it holds."""
        document, name = _document(arch)
        return cls._made(_core.model_of_arch(json.dumps(document), name), ("arch", document))

    @classmethod
    def _made(cls, facts: Dict[str, Any], origin: Tuple[str, Any]) -> Model:
        model = cls.__new__(cls)
        model._set(facts, origin)
        return model

    def _set(self, facts: Dict[str, Any], origin: Tuple[str, Any]) -> None:
        object.__setattr__(self, "_facts", facts)
        object.__setattr__(self, "_origin", origin)

    @property
    def origin(self) -> Tuple[str, Any]:
        """The request's keyword that means this model, and its value."""
        origin: Tuple[str, Any] = self._origin
        return origin

    def to_dict(self) -> Dict[str, Any]:
        """All facts; `source` and `as_of` are None for models that are not of the catalog."""
        return dict(self._facts)

    def __getattr__(self, name: str) -> Any:
        if name in ("_facts", "_origin") or name not in self._facts:
            raise AttributeError(f"a model has no {name!r}")
        return self._facts[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a model is frozen; {name!r} cannot be set")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._facts})

    def __eq__(self, other: object) -> bool:
        return self._facts == other._facts if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.parameters))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickled, (self._facts, self._origin)

    def __repr__(self) -> str:
        experts = f", {self.n_experts} experts" if self.n_experts else ""
        size = f"{self.parameters / 1e9:.3g}B parameters, {self.n_layers} layers of {self.hidden}{experts}"
        return f"Model({self.name!r}, {size})"

    def _repr_html_(self) -> str:
        return _html.facts_table(self._facts, self.name)


def _unpickled(facts: Dict[str, Any], origin: Tuple[str, Any]) -> Model:
    return Model._made(facts, origin)


def _document(given: Union[str, os.PathLike[str], Mapping[str, Any]]) -> Tuple[Any, str]:
    if isinstance(given, Mapping):
        return dict(given), "dict"
    path = os.fspath(given)
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file), path
    except (OSError, ValueError) as error:
        raise InputError([Diagnostic("file-unreadable", path, str(error), "give the path of a JSON file")]) from None
