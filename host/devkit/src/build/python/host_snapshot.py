"""What the component of a plugin is made of: the plugin, and what it would import later.

After the snapshot there are no files to import from. So what the functions of the plugin and of its packages import is
imported now, with the codecs and what the interpreter itself imports when it needs it. A module that cannot be imported,
such as one with parts in C, is left to the function that asks for it.

A page of the snapshot that a call writes to is one that the system copies, in each call. So the garbage collector never looks
at what is in the snapshot, and memory that is free between its objects is taken: what a call allocates lies side by side.
"""

import gc
import importlib
import pkgutil
import sys
import types

import encodings
from host_late import LATE

# The sizes of C's types, for packages in pure Python that ask for them while they are imported, as sympy does. There is no
# C to call.
SIZES = {"c_short": 2, "c_int": 4, "c_uint": 4, "c_long": 4, "c_ulong": 4, "c_longlong": 8, "c_size_t": 4, "c_void_p": 4}


def _imported(name):
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit):
        return None


def _import_late():
    for name in [f"encodings.{codec.name}" for codec in pkgutil.iter_modules(encodings.__path__)] + ["_strptime"]:
        _imported(name)
    seen, tried = set(), set()
    while waiting := [name for name in sys.modules if name not in seen]:
        seen.update(waiting)
        for late in (late for name in waiting for late in LATE.get(name, ())):
            if late in tried:
                continue
            tried.add(late)
            name, part = late
            module = _imported(name)
            if module is not None and part and not hasattr(module, part):
                _imported(f"{name}.{part}")
    LATE.clear()


def _holes_filled():
    """Returns objects that fill what is free between others, from the largest size to the smallest."""
    end = id(bytes(1 << 22))
    taken = []
    for size in [1 << power for power in range(16, 9, -1)] + list(range(1008, 16, -16)):
        while id(block := bytes(size - sys.getsizeof(b""))) < end:
            taken.append(block)
    while id(block := object()) < end:
        taken.append(block)
    return taken


if _imported("ctypes") is None:
    stand_in = types.ModuleType("ctypes")
    for kind, size in SIZES.items():
        setattr(stand_in, kind, type(kind, (), {"_size": size}))
    stand_in.sizeof = lambda kind: kind._size
    sys.modules["ctypes"] = stand_in

import plugin  # noqa: E402

_import_late()
# The classes that the component exports are looked for here.
globals().update({name: value for name, value in vars(plugin).items() if not name.startswith("__")})

gc.collect()
# The second time for what the first list left when it grew.
_kept = [_holes_filled(), _holes_filled()]
gc.freeze()
