"""`deepspeed`: the parser of its launcher's options."""

import argparse
import importlib.metadata
import unittest.mock

from refresh_tables.launchers import options_of
from refresh_tables.table import Table


def parser_of(function) -> argparse.ArgumentParser:
    """The parser that a function makes and parses with."""
    with unittest.mock.patch.object(argparse.ArgumentParser, "parse_args", lambda self, *_, **__: self):
        return function([])


def read() -> Table:
    from deepspeed.launcher import runner

    version = importlib.metadata.version("deepspeed")
    return Table("deepspeed-launch", version, f"DeepSpeed {version}, launcher/runner.py",
                 [options_of(parser_of(runner.parse_args))])
