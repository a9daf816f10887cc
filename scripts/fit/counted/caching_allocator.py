"""What PyTorch's caching allocator would hold for tensors that live on the CPU.

`Allocations` logs when storages come and go while code runs under it; `CachingAllocator` replays a log by the rules of
c10/cuda/CUDACachingAllocator.cpp: sizes rounded to 512 bytes, small and large pools for each stream, the smallest free
block that fits, cut where more than 1 MiB is left, and segments of 2 MiB, 20 MiB or a multiple of 2 MiB where none fits.
"""
import bisect
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

MIB = 2**20
SMALLEST = 512
SMALL = MIB
MEDIUM = 10 * MIB
MEDIUM_SEGMENT = 20 * MIB
SEGMENT = 2 * MIB


class Allocations(TorchDispatchMode):
    """Logs (storage, bytes, stream), with None for bytes where it is freed."""

    def __init__(self):
        super().__init__()
        self.log = []
        self.stream = 0
        self.live = self.peak = 0
        self.pieces = 0
        self.known = {}
        self.numbers = 0

    def forget(self):
        """Begins anew with what is there: setting up leaves an empty cache."""
        self.log[:] = [(number, size, 0) for number, size in self.known.values()]
        self.peak = self.live

    def start_with(self, tensors):
        """Begins anew with these, whatever else was seen: storages may have been emptied since."""
        self.known.clear()
        self.live = 0
        for tensor in tensors:
            if tensor.untyped_storage().nbytes():
                self.see(tensor)
        self.forget()

    def watch_layers(self, norm):
        """From now on `pieces` is the most that a layer's forward pass held beside what is kept when the last norm begins."""

        def ended(*_):
            self.pieces = self.peak - self.live

        norm.register_forward_pre_hook(ended)

    def seen(self, change):
        """`change` of a tensor's storage, which goes by no dispatcher, and what is left of it."""

        def changed(tensor, *args):
            change(tensor, *args)
            self.see(tensor)

        return changed

    def _take(self, key, size):
        self.numbers += 1
        self.known[key] = (self.numbers, size)
        self.log.append((self.numbers, size, self.stream))
        self.live += size
        self.peak = max(self.peak, self.live)

    def _drop(self, key):
        if key in self.known:
            number, size = self.known.pop(key)
            self.log.append((number, None, 0))
            self.live -= size

    def see(self, tensor):
        if isinstance(tensor, FakeTensor):  # DTensor asks it for shapes
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self.known:
            self._take(key, storage.nbytes())
            weakref.finalize(storage, self._drop, key)
        elif self.known[key][1] != storage.nbytes():
            self._drop(key)
            self._take(key, storage.nbytes())

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if any(issubclass(kind, (DTensor, AsyncCollectiveTensor)) for kind in types):
            return NotImplemented  # they take their operations apart, and the parts come here
        out = function(*args, **(kwargs or {}))
        for tensor in tree_flatten((out, args))[0]:
            if isinstance(tensor, torch.Tensor) and tensor.device.type != "meta":
                self.see(tensor)
        return out


class Block:
    def __init__(self, size, pool, before=None, after=None):
        self.size, self.pool, self.before, self.after, self.free = size, pool, before, after, True


class CachingAllocator:
    def __init__(self):
        self.pools = {}  # (stream, small): free blocks by size
        self.taken = {}
        self.reserved = 0

    def _list(self, block):
        bisect.insort(self.pools.setdefault(block.pool, []), (block.size, id(block), block))

    def _unlist(self, block):
        self.pools[block.pool].remove((block.size, id(block), block))

    def take(self, key, size, stream):
        size = max(SMALLEST, -(-size // SMALLEST) * SMALLEST)
        pool = (stream, size <= SMALL)
        free = self.pools.setdefault(pool, [])
        at = bisect.bisect_left(free, (size,))
        if at < len(free):
            block = free.pop(at)[2]
        else:
            segment = SEGMENT if pool[1] else MEDIUM_SEGMENT if size < MEDIUM else -(-size // SEGMENT) * SEGMENT
            block = Block(segment, pool)
            self.reserved += segment
        rest = block.size - size
        if rest >= (SMALLEST if pool[1] else SMALL + 1):
            tail = Block(rest, pool, block, block.after)
            if block.after:
                block.after.before = tail
            block.after, block.size = tail, size
            self._list(tail)
        block.free = False
        self.taken[key] = block

    def give(self, key):
        block = self.taken.pop(key)
        block.free = True
        for side, other in (("before", "after"), ("after", "before")):
            beside = getattr(block, side)
            if beside and beside.free:
                self._unlist(beside)
                block.size += beside.size
                outer = getattr(beside, side)
                setattr(block, side, outer)
                if outer:
                    setattr(outer, other, block)
        self._list(block)

    def replay(self, log, scale=1):
        """Bytes reserved after the events of a log, whose sizes count `scale` times."""
        for key, size, stream in log:
            if size is None:
                self.give(key)
            else:
                self.take(key, int(size * scale), stream)
        return self.reserved
