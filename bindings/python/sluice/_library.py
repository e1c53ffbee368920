# SPDX-License-Identifier: Apache-2.0
"""The C library, and what every call of it has in common: structs that begin with their size,
a diagnostic, the status as an exception, a context of its own for every object.

Each object gets a context of its own, because a context serves one thread at a time, also when
its objects go: Python may collect an object on any thread.
"""
from __future__ import annotations

import dataclasses
import numbers
import operator
import os
import pathlib
import threading
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, Mapping, NoReturn, Optional, Tuple, Type
from typing import TypeVar

from ._c import ffi as ffi  # the other modules have it from here
from .errors import Diagnostic, error_of

_here = pathlib.Path(__file__).resolve().parent
lib: Any = ffi.dlopen(str(_here / "_sluice.so"))

T = TypeVar("T")


@contextmanager
def needing(what: str) -> Iterator[None]:
    """Around the import of a package that only `what` needs: says so where it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        raise ModuleNotFoundError(f"{what} needs {missing}, which is not installed: "
                                  f"pip install {missing}", name=error.name) from None


def text(pointer: Any, size: Optional[int] = None) -> str:
    """A C string; "" for NULL."""
    if pointer == ffi.NULL:
        return ""
    raw = ffi.string(pointer) if size is None else bytes(ffi.buffer(pointer, size))
    return raw.decode("utf-8", "replace")


_sizes: Dict[str, int] = {}


def struct(kind: str, /, **fields: Any) -> Any:
    """Makes a zeroed struct with struct_size and these fields set."""
    made = ffi.new(kind + "*")
    size = _sizes.get(kind)
    if size is None:
        size = _sizes[kind] = ffi.sizeof(kind)
    made.struct_size = size
    for name, value in fields.items():
        try:
            setattr(made, name, value)
        except OverflowError as error:
            field = dict(ffi.typeof(made[0]).fields)[name].type
            least = 0 if field.cname.startswith("u") else -(1 << (8 * ffi.sizeof(field) - 1))
            most = least + (1 << 8 * ffi.sizeof(field)) - 1
            raise ValueError(f"{name}: {value!r} is out of range, {least} to {most}") from error
        except TypeError:
            kind = dict(ffi.typeof(made[0]).fields)[name].type.cname
            unfit(value, name, "a number" if kind in ("double", "float") else
                   "a whole number")
    return made


def _value(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return value
    kind = ffi.typeof(value)
    if kind.kind == "array":
        if kind.item.cname == "char":
            return text(value)
        return tuple(_value(item) for item in value)
    return value


def record(cls: Type[T], struct: Any, /, **given: Any) -> T:
    """Makes a dataclass from the struct's fields of the same names."""
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.name not in given:
            given[field.name] = _value(getattr(struct, field.name))
    return cls(**given)


def diagnostic() -> Any:
    return struct("sluice_diagnostic_t")


def check(status: int, why: Any = None) -> None:
    """Raises the exception of a status other than SLUICE_OK."""
    if status == 0:
        return
    fields = {"status": status}
    found = Diagnostic(status=status) if why is None else record(Diagnostic, why, **fields)
    raise error_of(text(lib.sluice_status_name(status)), found)


def context(max_bytes: int = 0) -> Any:
    """A context; what is made from it keeps its memory."""
    out, why = ffi.new("sluice_context_t**"), diagnostic()
    options = ffi.NULL
    if whole(max_bytes, "memory_bytes"):
        options = struct("sluice_context_options_t", max_bytes=max_bytes)
    check(lib.sluice_context_create(options, out, why), why)
    return ffi.gc(out[0], lib.sluice_context_destroy)


def make(kind: str, call: Callable[..., int], *arguments: Any, max_bytes: int = 0) -> Any:
    """The object that call(context, arguments..., out, diagnostic) makes, in a context of its
    own."""
    out, why = ffi.new(f"sluice_{kind}_t**"), diagnostic()
    check(call(context(max_bytes), *arguments, out, why), why)
    return own(kind, out[0])


_DESTROY = {
    "graph": lib.sluice_graph_destroy, "hardware": lib.sluice_hardware_destroy,
    "plan": lib.sluice_plan_destroy, "cohort": lib.sluice_cohort_destroy,
    "family": lib.sluice_family_destroy, "replacement": lib.sluice_replacement_destroy,
    "token_lists": lib.sluice_token_lists_destroy,
}


def own(kind: str, pointer: Any) -> Any:
    """Wraps a pointer whose object is destroyed when Python no longer refers to it."""
    return ffi.gc(pointer, _DESTROY[kind])


def take(out: Any) -> bytes:
    """Copies the bytes of a sluice_bytes_t and releases it."""
    try:
        return bytes(ffi.buffer(out.data, out.size)) if out.size else b""
    finally:
        lib.sluice_bytes_release(ffi.NULL, out)


@lru_cache(maxsize=None)
def _constants() -> Dict[str, int]:
    return {name: getattr(lib, name) for name in dir(lib) if name.startswith("SLUICE_")}


@lru_cache(maxsize=None)
def enum(prefix: str) -> Dict[str, int]:
    """{"name": value} of the C constants SLUICE_PREFIX_NAME; not how many there are."""
    start = f"SLUICE_{prefix}_"
    return {name[len(start):].lower(): value for name, value in _constants().items()
            if name.startswith(start) and name != start + "COUNT"}


# Constants of several enums begin alike: a mapper's solvers, and lengths of arrays.
_CHOICES = {
    ("MAP", "solver"): ("best", "exact", "greedy", "cosa", "search", "kapla"),
    ("GEMM", "solver"): ("exact", "cosa"),
    ("GEMM", "objective"): ("energy", "edp", "latency"),
}


def choose(value: Any, prefix: str, what: str) -> int:
    """The constant with this name, or with this number."""
    known = enum(prefix)
    names = _CHOICES.get((prefix, what), tuple(known))
    if (isinstance(value, int) and not isinstance(value, bool)
            and value in [known[name] for name in names]):
        return value
    if not isinstance(value, str) or value.lower() not in names:
        raise ValueError(f"{what}: {value!r} is none of {', '.join(names)}")
    return known[value.lower()]


def expect(value: Any, kind: Any, what: str, right: str) -> None:
    """Refuses a value of another type."""
    if not isinstance(value, kind):
        unfit(value, what, right)


def unfit(value: Any, what: str, right: str) -> NoReturn:
    """Says what a value is, and what would be right."""
    of = type(value).__name__
    article = "an" if of[0] in "aeiouAEIOU" else "a"
    raise TypeError(f"{what}: {shown(value)} is {article} {of}; {right} would be right")


def shown(value: Any) -> str:
    """The value in few characters."""
    said = repr(value)
    return said if len(said) <= 60 else said[:57] + "..."


def whole(value: Any, what: str, least: int = 0, most: int = (1 << 64) - 1) -> int:
    """A whole number of Python or numpy within these limits; no truths, no fractions."""
    try:
        if isinstance(value, bool):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is no whole number") from None
    if not least <= found <= most:
        raise ValueError(f"{what}: {found} is out of range, {least} to {most}")
    return found


def flag(value: Any, what: str) -> int:
    """0 or 1 of a truth, of Python or numpy."""
    if type(value).__name__ in ("bool", "bool_", "int") and value in (0, 1):
        return int(value)
    unfit(value, what, "True or False")


def flags(**values: Any) -> Dict[str, int]:
    """Truths by name, as fields of a struct."""
    return {what: flag(value, what) for what, value in values.items()}


def path_of(value: Any, what: str = "path", right: str = "a file's name") -> pathlib.Path:
    """A file's name; a number, which would be an open file's, is none."""
    expect(value, (str, os.PathLike), what, right)
    if "\0" in os.fspath(value):
        raise ValueError(f"{what}: {value!r} holds a zero, which no file's name has")
    return pathlib.Path(value)


def bytes_of(data: Any, what: str) -> bytes:
    """The bytes of what holds bytes."""
    expect(data, (bytes, bytearray, memoryview), what,
           "bytes (of a file: Path(name).read_bytes())")
    return bytes(data)


def listed(values: Any, what: str, right: str) -> List[Any]:
    """What a list, a tuple, a range or an array of numpy or pandas holds."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        unfit(values, what, right)
    return list(values)


def same_length(count: int, **lists: Any) -> None:
    """Refuses lists of another length: C reads as many values as its struct says."""
    for name, values in lists.items():
        if len(values) != count:
            raise ValueError(f"{name}: {len(values)} values instead of {count}")


class Cancel:
    """Stops a call from another thread: give it as cancel=, then cancel()."""

    def __init__(self) -> None:
        self._word = ffi.new("uint32_t*")

    def cancel(self) -> None:
        """Ends the call soon, with its best result so far or with Stopped."""
        self._word[0] = 1

    @property
    def cancelled(self) -> bool:
        """Whether cancel() was called, or an interrupt came in between."""
        return bool(self._word[0])


@contextmanager
def interruptible(cancel: Optional[Cancel]) -> Iterator[Any]:
    """The word that a call polls. On the main thread Ctrl-C writes it, and Python raises its
    KeyboardInterrupt when the call has ended."""
    expect(cancel, (Cancel, type(None)), "cancel", "a sluice.Cancel()")
    word = (cancel or Cancel())._word
    watched = (threading.current_thread() is threading.main_thread()
               and lib.sluice_native_watch(word))
    try:
        yield word
    finally:
        if watched:
            lib.sluice_native_unwatch()


def nanoseconds(seconds: Optional[float]) -> int:
    """Nanoseconds of a deadline; None: no deadline."""
    if seconds is None:
        return 0
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real) or not 0 < seconds < 1e9:
        raise ValueError(f"deadline: {seconds!r} is no number of seconds above zero; None for "
                         "none")
    return max(1, round(seconds * 1e9))


def exponents(objective: Any) -> Tuple[int, int]:
    """(n, m) of energy^n * delay^m."""
    named = {"edp": (1, 1), "energy": (1, 0), "latency": (0, 1), "delay": (0, 1),
             "ed2p": (1, 2)}
    if isinstance(objective, str):
        try:
            return named[objective]
        except KeyError:
            raise ValueError(f"objective: {objective!r} is none of {', '.join(named)}, and "
                             "no pair (n, m)") from None
    if isinstance(objective, (tuple, list)) and len(objective) == 2:
        n, m = (whole(exponent, "objective", 0, 16) for exponent in objective)
        if n or m:
            return n, m
        raise ValueError("objective: energy^0 * delay^0 is the same for every plan")
    raise ValueError(f"objective: {objective!r} is none of {', '.join(named)}, and no pair "
                     "(n, m) of energy^n * delay^m")
