# SPDX-License-Identifier: Apache-2.0
"""Waits of a stream as tokens, for machines that order their engines by counting channels."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from ._library import check, context, ffi, lib, listed, make, struct, unfit, whole
from .graph import NO_INDEX
from .plan import Plan

if TYPE_CHECKING:
    import numpy


@dataclasses.dataclass(frozen=True)
class TokenChannel:
    """A channel of the target machine from one engine of the stream (Machine.engines has their
    order) to another; depth: tokens that it holds, 0: any number."""

    producer: int
    consumer: int
    depth: int = 0


@dataclasses.dataclass(frozen=True)
class TokenRelay:
    """An instruction that only pops and pushes, in the list of `engine` in front of instruction
    `before` (None: at the end). Bit c of pops and of pushes is channel c."""

    engine: int
    before: Optional[int]
    pops: int
    pushes: int


@dataclasses.dataclass(frozen=True)
class TokenUse:
    """How a stream uses a channel: sluice_token_use_t. least_depth 0: it does not."""

    tokens: int
    outstanding: int
    least_depth: int


@dataclasses.dataclass(frozen=True, repr=False)
class Tokens:
    """The tokens of a stream: sluice_token_view_t. pops and pushes have an entry for each
    instruction, numbered visit by visit; bit c is channel c."""

    pops: "numpy.ndarray"
    pushes: "numpy.ndarray"
    relays: List[TokenRelay]
    channels: List[TokenUse]
    visits: List[Tuple[int, Tuple[int, ...]]]  # instance, iterations of the loops around it
    common_depth: int

    def __repr__(self) -> str:
        return (f"<sluice.Tokens: {len(self.pops)} instructions, {len(self.relays)} relays, "
                f"{len(self.channels)} channels, of depth {self.common_depth} at least>")


def tokens(stream: Union[Plan, bytes], channels: Sequence[TokenChannel] = ()) -> Tokens:
    """Derives the tokens of a verified plan, or of its stream's bytes: lists with these pops,
    pushes and relays, and without the stream's waits, start no instruction before its waits
    would hold, and end. Infeasible: no channels lead where an instruction waits (rule "path"),
    or a depth is too small (rule "depth"; the message says which would do)."""
    import numpy

    if isinstance(stream, Plan):
        image = stream.stream
    elif isinstance(stream, (bytes, bytearray, memoryview)):
        image = bytes(stream)
    else:
        unfit(stream, "stream", "a sluice.Plan, or plan.stream")
    given = listed(channels, "channels", "a list of sluice.TokenChannel")
    array = ffi.new("sluice_token_channel_t[]", len(given))
    for number, (out, channel) in enumerate(zip(array, given)):
        if not isinstance(channel, TokenChannel):
            unfit(channel, f"channels[{number}]", "sluice.TokenChannel(producer, consumer)")
        for field in dataclasses.fields(TokenChannel):
            setattr(out, field.name, whole(getattr(channel, field.name),
                                           f"channels[{number}].{field.name}", 0, NO_INDEX))
    options = struct("sluice_token_options_t", channel_count=len(given),
                     channels=array if given else ffi.NULL)
    held = ffi.from_buffer(image)
    lists = make("token_lists", lib.sluice_tokens, held, len(image), options)
    view = struct("sluice_token_view_t")
    check(lib.sluice_token_lists_view(lists, view))
    steps = numpy.frombuffer(bytes(ffi.buffer(view.instruction, 16 * view.instructions))
                             if view.instructions else b"", "uint64").reshape(-1, 2)
    relays = [TokenRelay(r.engine, None if r.before == NO_INDEX else r.before, r.step.pops,
                         r.step.pushes) for r in _each(view.relay, view.relays)]
    uses = [TokenUse(u.tokens, u.outstanding, u.least_depth)
            for u in _each(view.channel, view.channels)]
    visits = [(v.instance, tuple(v.index)) for v in _each(view.visit, view.visits)]
    return Tokens(steps[:, 0].copy(), steps[:, 1].copy(), relays, uses, visits,
                  view.common_depth)


def _each(array: Any, count: int) -> List[Any]:
    return [array[i] for i in range(count)]
