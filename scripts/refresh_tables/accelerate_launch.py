"""`accelerate launch`: the parser of its options, and what the plugins ask of the values that go on to them."""

from refresh_tables.accelerate import option_sections
from refresh_tables.launchers import options_of
from refresh_tables.table import Table

TRUTH = ("true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0")  # utils/environment.py, str_to_bool


def asked_by_plugins(parser) -> dict:
    from accelerate.utils.constants import FSDP_SHARDING_STRATEGY

    asked = {}
    for section in option_sections(parser):
        for row in section.fields:
            told = {key: row[key] for key in ("values", "case", "min", "max") if key in row}
            if "boolean" in row["types"]:
                # The first FSDP takes the name of a strategy there.
                first = FSDP_SHARDING_STRATEGY if row["name"] == "fsdp_reshard_after_forward" else ()
                told = {"values": [*TRUTH, *first], "case": "any"}
            asked[row["name"]] = told
    judged = {action.dest for action in parser._actions if action.nargs == 0 or action.choices}  # by the parser
    return {name: told for name, told in asked.items() if told and name not in judged}


def read() -> Table:
    try:
        import torch  # noqa: F401 - accelerate needs it, or what stands for it
    except ImportError:
        import stand_in

        stand_in.torch()
    import accelerate
    from accelerate.commands.launch import launch_command_parser

    version = accelerate.__version__
    parser = launch_command_parser()
    return Table("accelerate-launch", version, f"accelerate {version}, commands/launch.py and utils/dataclasses.py",
                 [options_of(parser, asked_by_plugins(parser))])
