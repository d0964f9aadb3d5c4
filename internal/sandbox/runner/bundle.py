# Column bundles: tables as the server hands them in (bundle.go has the format).
import datetime
import decimal
import json
import os
import struct

import numpy as np
import pandas as pd

MAGIC = b"ILBUNDL1"
FIXED, CODES, PLAIN = 0, 1, 2
NS_MIN, NS_MAX = -(2**63 - 1) // 1000, (2**63 - 1) // 1000  # what microseconds fit into nanoseconds
INFINITE = 2**63 - 1  # a moment without end, and negative without begin
FIRST, LAST = -62135596800 * 10**6, 253402300800 * 10**6 - 1  # the microseconds of Python's calendar, years 1 to 9999
TIMED = set()  # names of the columns that were loaded as moments, not days
WIDTHS = {
    "bool": "u1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
    "float32": "f4", "float64": "f8", "date": "i4", "time": "i8", "timestamp": "i8", "duration": "i8", "decimal": "i8",
}


def load_bundle(fd):
    """Reads a bundle from a descriptor of its own, which it closes."""
    with os.fdopen(fd, "rb", buffering=0) as f:
        end = f.seek(-16, os.SEEK_END)
        tail = f.read(16)
        if tail[8:] != MAGIC:
            raise ValueError("the table is damaged")
        size, = struct.unpack("<Q", tail[:8])
        f.seek(end - size)
        footer = json.loads(_read(f, end - size, size))
        rows = footer["rows"]
        frame = pd.DataFrame({c["name"]: _column(f, c, rows) for c in footer["columns"]}, index=pd.RangeIndex(rows), copy=False)
        return frame


def _read(f, offset, size):
    out = bytearray(size)
    _read_into(f, offset, memoryview(out))
    return bytes(out)


def _read_into(f, offset, view):
    f.seek(offset)
    while view:
        n = f.readinto(view)
        if not n:
            raise ValueError("the table is damaged")
        view = view[n:]


def _column(f, c, rows):
    null = None
    if c.get("nulls"):
        null = np.unpackbits(np.frombuffer(_read(f, *c["nulls"]), "u1"), count=rows, bitorder="little").astype(bool)
    kind = c["kind"]
    if kind in ("text", "json", "bytes"):
        values = _strings(f, c, rows, kind == "bytes")
        if null is not None:
            values[null] = None
        if kind == "json":
            values[:] = [None if v is None else json.loads(v) for v in values]
        return values
    if kind == "decimal" and c.get("width") == 16:
        return _wide(f, c, rows, null)
    raw = np.empty(rows, "<" + WIDTHS[kind])
    at = 0
    for n, _, offset, size in c["segments"]:
        _read_into(f, offset, memoryview(raw[at:at + n]).cast("B"))
        at += n
    return _fixed(kind, raw, null, c)


def _fixed(kind, raw, null, c):
    if kind == "bool":
        values = raw.view(bool)
        return values if null is None else pd.arrays.BooleanArray(values, null)
    if kind.startswith(("int", "uint")):
        return raw if null is None else pd.arrays.IntegerArray(raw, null)
    if kind.startswith("float"):
        if null is not None:
            raw[null] = np.nan
        return raw
    if kind == "timestamp":
        TIMED.add(c["name"])
        return _times(raw, null, c.get("zone"))
    if kind == "date":
        return _days(raw, null)
    if kind == "duration":
        values = raw.view("m8[us]").astype("m8[ns]")
        if null is not None:
            values[null] = np.timedelta64("NaT")
        return values
    if kind == "time":
        midnight = datetime.datetime(2000, 1, 1)
        return _objects(((midnight + datetime.timedelta(microseconds=v)).time() for v in raw.tolist()), null, len(raw))
    scale = -c.get("scale", 0)
    return _objects((decimal.Decimal(v).scaleb(scale) for v in raw.tolist()), null, len(raw))


def _days(days, null):
    if null is not None:
        days[null] = 0
    us = days.astype("i8") * 86_400_000_000
    if not len(us) or NS_MIN <= us.min() and us.max() <= NS_MAX:
        return _times(us, null, None)
    if FIRST <= us.min() and us.max() <= LAST:  # e.g. 9999-12-31: kept as Python's own type
        epoch = datetime.date(1970, 1, 1)
        return _objects((epoch + datetime.timedelta(days=v) for v in days.tolist()), null, len(us))
    infinite = 2**31 - 1  # of days
    return _objects((_far(v, "D", "", infinite) for v in days.tolist()), null, len(us))


def _times(us, null, zone):
    if null is not None:
        us[null] = 0
    if len(us) and (us.min() < NS_MIN or us.max() > NS_MAX):
        if us.min() < FIRST or us.max() > LAST:
            return _objects((_far(v, "us", "+00" if zone else "", INFINITE) for v in us.tolist()), null, len(us))
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if zone else None)
        return _objects((epoch + datetime.timedelta(microseconds=v) for v in us.tolist()), null, len(us))
    values = (us * 1000).view("M8[ns]")
    if null is not None:
        values[null] = np.datetime64("NaT")
    if not zone:
        return values
    return pd.DatetimeIndex(values, tz="UTC").tz_convert(zone)


def _far(v, unit, zone, infinite):
    """The text of a moment in a column that goes beyond Python's calendar."""
    if abs(v) >= infinite:
        return "infinity" if v > 0 else "-infinity"
    text = str(np.datetime64(v, unit)).replace("T", " ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    era = ""
    if v < -719528 * (1 if unit == "D" else 86_400_000_000):  # numpy's year 0 is 1 BC
        year, rest = text[1:].split("-", 1) if text[0] == "-" else text.split("-", 1)
        text, era = f"{int(year) + 1:04}-{rest}", " (BC)"
    elif v < -719162 * (1 if unit == "D" else 86_400_000_000):
        text, era = "0001" + text[4:], " (BC)"
    return text + era + zone


def _objects(items, null, rows):
    values = np.empty(rows, object)
    values[:] = list(items)
    if null is not None:
        values[null] = None
    return values


def _wide(f, c, rows, null):
    scale, parts = c.get("scale", 0), []
    for n, _, offset, size in c["segments"]:
        parts += [int.from_bytes(b, "little", signed=True) for (b,) in struct.iter_unpack("16s", _read(f, offset, size))]
    if scale:
        with decimal.localcontext(decimal.Context(prec=80)):
            parts = [decimal.Decimal(v).scaleb(-scale) for v in parts]
    return _objects(parts, null, rows)


def _strings(f, c, rows, binary):
    out = np.empty(rows, object)
    words = None
    at = 0
    for n, encoding, offset, size in c["segments"]:
        raw = _read(f, offset, size)
        if encoding == CODES:
            if words is None:
                words = _words(f, c, binary)
            out[at:at + n] = words[np.frombuffer(raw, "<i4")]
        else:
            out[at:at + n] = _cut(raw[4 * n:], np.frombuffer(raw, "<i4", n), binary)
        at += n
    return out


def _words(f, c, binary):
    offset, size, count = c["dict"]
    raw = _read(f, offset, size)
    words = np.empty(count, object)
    words[:] = raw.split(b"\0") if binary else raw.decode().split("\0")
    return words


def _cut(raw, lengths, binary):
    ends = np.cumsum(lengths, dtype="i8").tolist()
    text = raw.decode("ascii") if not binary and raw.isascii() else raw
    start, out = 0, []
    for end in ends:
        out.append(text[start:end])
        start = end
    if not binary and text is raw:
        out = [b.decode("utf-8", "replace") for b in out]
    return out
