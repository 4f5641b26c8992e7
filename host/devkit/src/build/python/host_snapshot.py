"""What the component of a plugin is made of: the plugin, and what it would import later.

After the snapshot there are no files to import from. So what the functions of the plugin and of its packages import is
imported now, with the codecs and what the interpreter itself imports when it needs it. A module that cannot be imported,
such as one with parts in C, is left to the function that asks for it.

A page of the snapshot that a call writes to is one that the system copies, in each call. So the garbage collector never looks
at what is in the snapshot, memory that is free between its objects is taken, so that what a call allocates lies side by side,
and references to its objects are not counted: what makes the component turns those that are listed here into immortal ones (PEP
683, `immortal.rs`).
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


def _objects():
    """Returns all objects: each that is to be kept, so that none of them is freed and its memory used for another."""
    waiting = [sys.modules, *gc.get_objects()]
    # A bit for each eight bytes of memory: a set of numbers would leave more holes.
    seen = bytearray((id(bytes(1 << 22)) >> 6) + 1)
    found = []
    while waiting:
        thing = waiting.pop()
        byte, bit = id(thing) >> 6, 1 << (id(thing) >> 3 & 7)
        if byte < len(seen) and not seen[byte] & bit:
            seen[byte] |= bit
            found.append(thing)
            waiting.extend(gc.get_referents(thing))
    return found


def _listed(objects):
    """Returns where each object is, and where its type is, in four bytes each. Before them are the mark of the list, the
    count of references that an immortal object has, and the number of objects."""
    # The interpreter made the names of variables immortal itself.
    count = sys.getrefcount(_objects.__code__.co_varnames[0])
    places = bytearray(b"host: objects")
    for number in (count, len(objects)):
        places += number.to_bytes(4, "little")
    for thing in objects:
        places += id(thing).to_bytes(4, "little") + id(type(thing)).to_bytes(4, "little")
    # The component leaves zeros out, and these would be the last.
    return bytes(places + b".")


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
_kept_objects = _objects()
_list = _listed(_kept_objects)
# The second time for what the first list left when it grew.
_kept_holes = [_holes_filled(), _holes_filled()]
gc.freeze()
