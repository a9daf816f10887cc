"""`accelerate launch`: the parser of its options."""

from refresh_tables.launchers import options_of
from refresh_tables.table import Table


def read() -> Table:
    try:
        import torch  # noqa: F401 - accelerate needs it, or what stands for it
    except ImportError:
        import stand_in

        stand_in.torch()
    import accelerate
    from accelerate.commands.launch import launch_command_parser

    version = accelerate.__version__
    return Table("accelerate-launch", version, f"accelerate {version}, commands/launch.py",
                 [options_of(launch_command_parser())])
