"""A launcher's own options, which stand before the script: what its parser of command lines takes."""

from refresh_tables.table import Section

KINDS = {int: "integer", float: "number", str: "string"}


def options_of(parser, told: dict | None = None) -> Section:
    """`told` adds to the rows by their names: what the launcher asks of a value once it is parsed."""
    section = Section("", "argparse", "refused")
    for action in parser._actions:
        names = [name.removeprefix("--") for name in action.option_strings]
        long = [name for name in names if not name.startswith("-")]
        if not long:
            continue
        flag = action.nargs == 0
        row = {"types": ["boolean"] if flag else [KINDS.get(action.type, "string")], "values": action.choices or [],
               "nargs": "none" if flag else None}
        section.add(long[0], also=[name for name in names if name != long[0]],
                    **{**row, **(told or {}).get(long[0], {})})
    return section
