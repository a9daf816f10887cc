"""Reinforcement learning: rl()."""

from __future__ import annotations

import os
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

from smplan import _core, _html
from smplan._errors import Diagnostic, InputError
from smplan._export import Export
from smplan._keywords import to_text
from smplan._request import Names, Number, Numbers, arguments_of, environment_region
from smplan._rows import Rows
from smplan._usual_catalog import usual_catalog
from smplan._views import View


class RlPlan(View):
    """One way to place and train a policy. Times in seconds, of a step unless named otherwise; memory of a device in
    GiB, of a host too; money in USD, None where the instance type has no price.

    `instances` are all of them: `training_instances` train, `rollout_instances` generate; where `placement` is
    "colocated" they are the same. The parts of a step are `generate_s`, `score_s`, `log_probs_s`, `reference_s`,
    `critic_s`, `update_s`, `sync_s` and `swap_s`.

    >>> import smplan
    >>> plan = smplan.rl(model="qwen2.5-7b", instances="ml.p5.48xlarge", count=1).best
    >>> plan.placement, plan.step_p10_s < plan.step_s < plan.step_p90_s
    ('colocated', True)
    """

    __slots__ = ()
    rank: int
    instance: str
    instances: int
    market: str
    placement: str
    training_instances: int
    rollout_instances: int
    offloads_states: bool
    stack: str
    training_plan: str
    engine: str
    rollout_tensor: int
    rollout_replicas: int
    rollout_sequences_at_once: int
    engine_memory_share: float
    step_s: float
    step_p10_s: float
    step_p90_s: float
    generate_s: float
    score_s: float
    log_probs_s: float
    reference_s: float
    critic_s: float
    update_s: float
    sync_s: float
    swap_s: float
    generate_tail_s: float
    tokens_per_s: float
    training_memory_gib: float
    generation_memory_gib: float
    device_memory_gib: float
    host_memory_gib: float
    time_to_train_s: float
    hourly_usd: Optional[float]
    total_usd: Optional[float]
    total_p10_usd: Optional[float]
    total_p90_usd: Optional[float]

    @property
    def parts_s(self) -> Dict[str, float]:
        """The parts of a step. They sum to `step_s`, unless generating and training run beside each other ("split")."""
        names = ("generate", "score", "log_probs", "reference", "critic", "update", "sync", "swap")
        return {name: self._data[f"{name}_s"] for name in names}

    def __repr__(self) -> str:
        return (f"RlPlan({self.rank}: {self.instances} x {self.instance}, {self.placement}, {self.stack} "
                f"{self.training_plan}, {self.engine} tp{self.rollout_tensor}, {self.step_s:.3g} s a step)")


class Question(NamedTuple):
    """All that an answer comes from, so that a plan of it can be exported."""

    request: Dict[str, Any]
    job: Optional[str]
    region: Optional[str]
    now: int
    catalog: _core.Catalog


class RlPlanSet(Rows[RlPlan]):
    """Plans, best first. Empty if nothing fits: `why_not` says what came nearest and what it lacks.

    >>> import smplan
    >>> smplan.rl(model="qwen2.5-7b", instances="ml.p5.48xlarge", count=[1, 2], top=2)
    RlPlanSet(2 plans)
    """

    def __init__(self, question: Question, text: str, why_not: str, caveat: str, assumptions: Sequence[str]) -> None:
        self._question = question
        super().__init__(text, RlPlan)
        #: Why there is no plan; None if there is one.
        self.why_not = why_not or None
        #: What the figures rest on: no measured step.
        self.caveat = caveat
        #: What the request left open, and what was taken.
        self.assumptions = tuple(assumptions)

    @property
    def best(self) -> Optional[RlPlan]:
        """The first plan; None if there is none."""
        return self._rows[0] if self._rows else None

    def export(self, target: str, *, rank: int = 1, path: Union[str, os.PathLike[str], None] = None,
               **job: Any) -> Export:
        """A plan as a job: see `smplan.rl_export_targets`. Written into the folder `path` if it is given.

        `job`: role, bucket, job_name, input_mode, file_system, warm_pool, as the flags of `smplan export`. Raises
        InputError with all that the target has no words for: rl(framework="verl") plans within them.

        >>> import smplan
        >>> plans = smplan.rl(model="llama-3.1-8b", instances="ml.p5.48xlarge", count=1, framework="verl")
        >>> [file.path for file in plans.export("verl").files]
        ['verl_rl.yaml', 'start_verl.py', 'requirements.txt', 'NOTES.md']
        """
        known = ("role", "bucket", "job_name", "input_mode", "file_system", "warm_pool")
        unknown = [name for name in job if name not in known]
        if unknown:
            hint = f"one of {', '.join(known)}"
            raise InputError([Diagnostic("unknown-name", name, f"unknown keyword '{name}'", hint) for name in unknown])
        options = {name: to_text(name, value) for name, value in job.items() if value is not None}
        asked = self._question
        with arguments_of(asked.request) as arguments:
            files, placeholders, notes, plan_id = _core.rl_export(
                asked.catalog, arguments, asked.job, asked.region, asked.now, rank, target, options)
        exported = Export(target, plan_id, files, placeholders, notes)
        if path is not None:
            exported.write(path)
        return exported

    def _state(self) -> Tuple[str, str, str, Tuple[str, ...]]:
        return self._text, self.why_not or "", self.caveat, self.assumptions

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, RlPlanSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Tuple[Any, ...]:
        return RlPlanSet, (self._question, *self._state())

    def __repr__(self) -> str:
        return f"RlPlanSet({self.why_not})" if self.why_not else f"RlPlanSet({len(self)} plans)"

    def _repr_html_(self) -> str:
        rows = [[str(p.rank), f"{p.instances} x {p.instance}", p.placement, f"{p.stack} {p.training_plan}",
                 f"{p.engine} tp{p.rollout_tensor}", f"{p.step_s:.3g} s ({p.step_p10_s:.3g} to {p.step_p90_s:.3g})",
                 _html.days(p.time_to_train_s), _html.dollars(p.total_usd)] for p in self]
        return _html.table(["rank", "instances", "placement", "training", "rollout", "step", "time", "cost"], rows,
                           repr(self))


def rl(*, algorithm: Optional[str] = None, prompts: Optional[Number] = None, samples: Optional[Number] = None,
       prompt_length: Optional[Number] = None, response_length: Optional[Number] = None,
       response_limit: Optional[Number] = None, sequence_limit: Optional[Number] = None,
       length_variation: Optional[Number] = None, length_shape: Optional[str] = None,
       mini_batches: Optional[Number] = None, passes: Optional[Number] = None, kl: Optional[str] = None,
       steps: Optional[Number] = None, epochs: Optional[Number] = None, dataset_prompts: Optional[Number] = None,
       engine: Optional[str] = None, rollout_tp: Optional[Numbers] = None, rollout_dtype: Optional[str] = None,
       replica_sequences: Optional[Number] = None, concurrency: Optional[Number] = None,
       start_rate: Optional[Number] = None,
       reward_model: Optional[str] = None, reward_seconds: Optional[Number] = None, critic: Optional[str] = None,
       placement: Optional[Names] = None, framework: Optional[str] = None,
       job: Union[str, os.PathLike[str], None] = None,
       catalog: Optional[_core.Catalog] = None, **request: Any) -> RlPlanSet:
    """Plans reinforcement learning: which instances, where responses are generated, how the policy is trained, how long
    a step takes and what the run costs.

    The keywords are the flags of `smplan rl`. Lengths are in tokens, `prompts` and `steps` are counts of a step and of
    the run, `samples` are responses to a prompt, `reward_seconds` is a time ("2s"). `framework="verl"` keeps to what
    verl can be told, so that its plans can be exported. `job` starts from a file of verl or NeMo-RL, a HyperPod recipe
    of verl or of several turns, or the folder of an export; keywords go before what it says, and `assumptions` name
    what it leaves open. The others are those of plan() that say which model, hardware, market, software, limits and
    goal. Raises InputError with every fault. Ctrl-C is obeyed.

    >>> import smplan
    >>> plans = smplan.rl(model="llama-3.1-8b", algorithm="grpo", prompts=64, samples=8,
    ...                   instances="ml.p5.48xlarge", count=1)
    >>> plans.best.instances, round(sum(plans.best.parts_s.values()) - plans.best.step_s, 9)
    (1, 0.0)
    """
    own = {"algorithm": algorithm, "prompts": prompts, "samples": samples, "prompt_length": prompt_length,
           "response_length": response_length, "response_limit": response_limit, "sequence_limit": sequence_limit,
           "length_variation": length_variation, "length_shape": length_shape, "mini_batches": mini_batches,
           "passes": passes, "kl": kl, "steps": steps, "epochs": epochs, "dataset_prompts": dataset_prompts,
           "engine": engine, "rollout_tp": rollout_tp,
           "rollout_dtype": rollout_dtype, "replica_sequences": replica_sequences, "concurrency": concurrency,
           "start_rate": start_rate, "reward_model": reward_model, "reward_seconds": reward_seconds,
           "critic": critic, "placement": placement, "framework": framework}
    question = Question({**own, **request}, None if job is None else to_text("job", job), environment_region(),
                        _core.now(), usual_catalog(catalog))
    with arguments_of(question.request) as arguments:
        return RlPlanSet(question, *_core.rl(question.catalog, arguments, *question[1:4]))
