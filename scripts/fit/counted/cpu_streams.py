"""Streams for the CPU, which has none: what is made on one is logged with its number."""
import contextlib

import torch


class Stream(torch.cpu.Stream):
    made = 0

    def __init__(self, *args, **kwargs):
        super().__init__()
        Stream.made += 1
        self.number = Stream.made

    def record_event(self, event=None):
        return event or torch.cpu.Event()


def tell_streams_apart(allocations):
    """FSDP makes its streams by the device's module, torch.cpu."""

    @contextlib.contextmanager
    def stream(wanted):
        before = allocations.stream, torch.cpu._current_stream
        allocations.stream, torch.cpu._current_stream = getattr(wanted, "number", 0), wanted
        yield
        allocations.stream, torch.cpu._current_stream = before

    torch.cpu.Stream, torch.cpu.stream = Stream, stream
    torch.cpu.current_stream = lambda device=None: torch.cpu._current_stream
