"""Strategy planner and cost model for distributed training on Amazon SageMaker.

>>> import smplan
>>> plans = smplan.plan(params="13B", instances=["ml.p4d.24xlarge"])
>>> plans[0].instance_type
'ml.p4d.24xlarge'
"""

from smplan._batch import BatchEstimate, estimate_batch
from smplan._catalog_import import CatalogImport, import_catalog
from smplan._check import CheckFailed, Finding, Findings, check, guard
from smplan._core import Catalog
from smplan._core import export_targets as export_targets
from smplan._core import rl_export_targets as rl_export_targets
from smplan._core import version as __version__
from smplan._enums import Dtype, Finetune, Market, Objective, Recompute, Sharding
from smplan._errors import Diagnostic, Error, InputError
from smplan._export import Export, ExportFile
from smplan._finetune import FineTuning, FineTuningMethod, finetune
from smplan._measured import Calibration, Validation, calibrate, validate
from smplan._model import Model
from smplan._planning import estimate, plan
from smplan._plans import Plan, PlanSet
from smplan._regions import RegionPlan, Regions, regions
from smplan._rl import RlPlan, RlPlanSet, rl
from smplan._sweep import Sweep, SweepLine, sweep
from smplan._views import Cost, Explanation, FrontierPoint, Memory, StepTime

__all__ = [
    "BatchEstimate", "Calibration", "Catalog", "CatalogImport", "CheckFailed", "Cost", "Diagnostic", "Dtype", "Error",
    "Explanation", "Export", "ExportFile", "FineTuning", "FineTuningMethod", "Finding", "Findings", "Finetune", "FrontierPoint", "InputError", "Market", "Memory",
    "Model", "Objective", "Plan", "PlanSet", "Recompute", "RegionPlan", "Regions", "RlPlan", "RlPlanSet", "Sharding", "StepTime", "Sweep", "SweepLine",
    "Validation", "__version__",
    "calibrate", "check", "estimate", "estimate_batch", "export_targets", "finetune", "guard", "import_catalog", "plan", "regions", "rl", "rl_export_targets",
    "sweep",
    "validate",
]
