# What a job hands back: a table as typed JSON rows, a plain value, figures, files.
import datetime
import decimal
import io
import json
import math
import os
import re
import stat
import sys

import numpy as np
import pandas as pd

SAFE = 2**53  # integers beyond it are text, because JSON readers make floats of them
RESULT_BYTES = 32 << 20
FILES, FILE_BYTES = 20, 32 << 20
INTEGERS = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}
SUFFIXES = {".csv", ".tsv", ".png", ".jpg", ".jpeg", ".pdf", ".xlsx", ".html", ".json", ".txt", ".md"}


class ResultError(Exception):
    pass


class NoTable(Exception):
    pass


def to_frame(value):
    """Makes a DataFrame of anything that reads as a table, or raises NoTable. Python's
    own values stay what they are: a None makes no floats of the integers beside it."""
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, pd.Series):
        return value.to_frame(name="value" if value.name is None else value.name)
    if isinstance(value, pd.Index):
        return value.to_frame(index=False, name=value.name or "value")
    if isinstance(value, (np.ndarray, pd.api.extensions.ExtensionArray)):
        if getattr(value, "ndim", 1) > 2:
            raise NoTable
        return pd.DataFrame(value) if getattr(value, "ndim", 1) == 2 else pd.DataFrame({"value": value})
    if isinstance(value, dict):
        if value and all(isinstance(v, (list, tuple, np.ndarray, pd.Series)) for v in value.values()):
            if len({len(v) for v in value.values()}) == 1:
                return pd.DataFrame({k: pd.Series(v, dtype=object) if isinstance(v, (list, tuple)) else v for k, v in value.items()})
        _plain(value)
        return pd.DataFrame({str(k): [v] for k, v in value.items()})
    if isinstance(value, (list, tuple, set, frozenset)):
        items = list(value)
        _plain(items)
        if items and all(isinstance(v, dict) for v in items):
            return pd.DataFrame(items, dtype=object)
        if items and all(isinstance(v, (list, tuple)) for v in items) and len({len(v) for v in items}) == 1:
            return pd.DataFrame(items, dtype=object)
        return pd.DataFrame({"value": pd.Series(items, dtype=object)})
    if _scalar(value):
        return pd.DataFrame({"value": [value]})
    raise NoTable


def _scalar(v):
    return v is None or isinstance(v, (bool, int, float, complex, str, bytes, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta, np.generic, pd.Timestamp, pd.Timedelta, pd.Period)) or v is pd.NaT or v is pd.NA


def _plain(v, depth=0):
    if depth > 20:
        raise NoTable
    if isinstance(v, dict):
        for k, x in v.items():
            _plain(x, depth + 1)
    elif isinstance(v, (list, tuple, set, frozenset)):
        for x in v:
            _plain(x, depth + 1)
    elif not _scalar(v) and not isinstance(v, (pd.DataFrame, pd.Series, np.ndarray)):
        raise NoTable


def table(value, limit, known=0):
    """The header and rows of a result. known is how many rows the longest table of the
    job has."""
    frame = to_frame(value)
    total, cut = len(frame), frame.head(limit)
    columns = []
    if _says_something(frame.index, isinstance(value, pd.Series), max(known, total)):
        names = cut.index.names
        columns += [("index" if n is None and cut.index.nlevels == 1 else f"level_{i}" if n is None else _label(n), cut.index.get_level_values(i).to_series()) for i, n in enumerate(names)]
    columns += [(_label(n), cut.iloc[:, i]) for i, n in enumerate(cut.columns)]
    heads, data = [], []
    for name, series in columns:
        kind, values = _cells(series)
        heads.append({"name": name, "type": kind})
        data.append(values)
    rows = list(zip(*data)) if data else []
    if not data:
        total = 0
    raw = json.dumps(rows, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    if len(raw) > RESULT_BYTES:
        raise ResultError(f"the result has {len(raw) >> 20} MiB, more than {RESULT_BYTES >> 20}: return fewer rows or columns")
    return {"columns": heads, "rows": total, "sent": len(rows)}, raw


def _says_something(index, series, known):
    """Whether an index is more than numbers of rows. Whole numbers that nobody named
    are those of a frame whose rows were chosen or sorted, unless no table of the job
    has so many rows; a series such as a count of values is made by them."""
    if index.nlevels > 1 or index.name is not None:
        return True
    if isinstance(index, pd.RangeIndex):
        return False
    if not pd.api.types.is_integer_dtype(index.dtype):
        return len(index) > 0
    return series or len(index) > 0 and not (index.min() >= 0 and index.max() < known)


def _label(name):
    if isinstance(name, tuple):
        return "_".join(str(p) for p in name if str(p) != "")
    return str(name)


def _cells(s):
    """A column as DuckDB's type name and a list of JSON values."""
    d = s.dtype
    if isinstance(d, pd.CategoricalDtype):
        s = s.astype(object if d.categories.dtype == object else d.categories.dtype) if not s.isna().any() or d.categories.dtype.kind not in "iub" else s.astype(object)
        d = s.dtype
    if pd.api.types.is_bool_dtype(d) and d != object:
        return "BOOLEAN", _maybe(s, bool)
    if pd.api.types.is_integer_dtype(d):
        return INTEGERS.get(str(d).lower(), "BIGINT"), _maybe(s, _integer)
    if pd.api.types.is_float_dtype(d):
        return "FLOAT" if str(d).lower() == "float32" else "DOUBLE", _maybe(s, _float)
    if isinstance(d, pd.DatetimeTZDtype):
        return "TIMESTAMP WITH TIME ZONE", _maybe(s, _moment)
    if pd.api.types.is_datetime64_any_dtype(d):
        there = s.dropna()
        if len(there) and s.name not in TIMED and (there == there.dt.normalize()).all():
            return "DATE", _maybe(s, lambda v: v.date().isoformat())  # pandas has no type for days
        return "TIMESTAMP_NS" if (there.dt.nanosecond != 0).any() else "TIMESTAMP", _maybe(s, _moment)
    if pd.api.types.is_timedelta64_dtype(d):
        return "INTERVAL", _maybe(s, _span)
    return _mixed(list(s))


def _maybe(s, convert):
    null = s.isna().to_numpy()
    values = s.tolist()
    if not null.any():
        return [convert(v) for v in values]
    return [None if n else convert(v) for v, n in zip(values, null)]


def _mixed(values):
    kinds = {_kind(v) for v in values} - {None}
    texts = [None if _kind(v) is None else _text(v) for v in values]
    whole = [int(v) for v in values if _kind(v) == "BIGINT"]
    most, least = max(whole, default=0), min(whole, default=0)
    if kinds == {"DECIMAL"} or kinds == {"DECIMAL", "BIGINT"}:
        digits, scale = _digits(v for v in values if _kind(v) is not None)
        if digits is None or digits + scale > 38:  # infinite, or more digits than a DECIMAL has
            return "VARCHAR", texts
        return f"DECIMAL(38,{scale})", [_cell(v) for v in values]
    if kinds == {"BIGINT", "DOUBLE"}:
        if most > SAFE or least < -SAFE:  # no float holds them
            return "VARCHAR", texts
        return "DOUBLE", [_cell(v) for v in values]
    if len(kinds) != 1 and "JSON" not in kinds:
        return "VARCHAR", texts
    kind = "JSON" if "JSON" in kinds else kinds.pop()
    if kind == "BIGINT" and (most >= 2**63 or least < -2**63):
        kind = "HUGEINT"
        if most >= 2**127 or least < -2**127:
            return "VARCHAR", texts
    return kind, [_cell(v) for v in values]


def _digits(values):
    """The most digits before and behind the point; None where a value has none."""
    before = behind = 0
    for v in values:
        v = decimal.Decimal(int(v)) if not isinstance(v, decimal.Decimal) else v
        if not v.is_finite():
            return None, 0
        _, digits, exponent = v.as_tuple()
        before, behind = max(before, len(digits) + exponent), max(behind, -exponent)
    return max(before, 0), max(behind, 0)


def _kind(v):
    if v is None or v is pd.NaT or v is pd.NA or isinstance(v, float) and math.isnan(v) or isinstance(v, decimal.Decimal) and v.is_nan():
        return None
    if isinstance(v, (bool, np.bool_)):
        return "BOOLEAN"
    if isinstance(v, (int, np.integer)):
        return "BIGINT"
    if isinstance(v, (float, np.floating)):
        return "DOUBLE" if not np.isnan(v) else None
    if isinstance(v, decimal.Decimal):
        return "DECIMAL"
    if isinstance(v, datetime.datetime):
        return "TIMESTAMP WITH TIME ZONE" if v.tzinfo else "TIMESTAMP"
    if isinstance(v, datetime.date):
        return "DATE"
    if isinstance(v, datetime.time):
        return "TIME WITH TIME ZONE" if v.tzinfo else "TIME"
    if isinstance(v, (datetime.timedelta, np.timedelta64)):
        return "INTERVAL"
    if isinstance(v, (bytes, bytearray)):
        return "BLOB"
    if isinstance(v, (dict, list, tuple, set, frozenset, np.ndarray)):
        return "JSON"
    return "VARCHAR"


def _cell(v):
    kind = _kind(v)
    if kind is None:
        return None
    if kind == "BOOLEAN":
        return bool(v)
    if kind == "BIGINT":
        return _integer(v)
    if kind == "DOUBLE":
        return _float(v)
    if kind == "DECIMAL":
        f = float(v)
        return f if math.isfinite(f) and abs(f) < SAFE and decimal.Decimal(repr(f)) == v else format(v, "f") if v.is_finite() else str(v)
    if kind.startswith("TIMESTAMP"):
        return _moment(v)
    if kind == "DATE" or kind.startswith("TIME"):
        return _unpadded(v.isoformat())
    if kind == "BLOB":
        return _blob(v)
    if kind == "INTERVAL":
        return _span(v)
    if kind == "JSON":
        return plain(v)
    return _text(v)


def _integer(v):
    v = int(v)
    return v if -SAFE <= v <= SAFE else str(v)


def _moment(v):
    """As DuckDB writes it: a moment with a zone in UTC."""
    zone = ""
    if v.tzinfo is not None:
        v, zone = v.astimezone(datetime.timezone.utc).replace(tzinfo=None), "+00"
    return _unpadded(v.isoformat(sep=" ")) + zone


def _unpadded(text):
    """Without the zeros at the end of a fraction."""
    return re.sub(r"(\.\d*?)0+(?!\d)", r"\1", text) if "." in text else text


def _float(v):
    """What JSON has no number for is text, as the query engine writes it."""
    v = float(v)
    if math.isinf(v):
        return "Infinity" if v > 0 else "-Infinity"
    return None if math.isnan(v) else v


def _span(v):
    v = pd.Timedelta(v)
    clock = abs(v) if v.value < 0 else v
    days, rest = divmod(clock.value // 1000, 86_400_000_000)
    text = f"{rest // 3_600_000_000:02}:{rest // 60_000_000 % 60:02}:{rest // 1_000_000 % 60:02}"
    if rest % 1_000_000:
        text += f".{rest % 1_000_000:06}".rstrip("0")
    sign = "-" if v.value < 0 else ""
    if not days:
        return sign + text
    head = f"{sign}{days} day" + ("" if days == 1 else "s")
    return f"{head} {sign}{text}" if rest else head


def _blob(v):
    return "".join(chr(b) if 32 <= b < 127 and b not in b"\\'\"" else f"\\x{b:02X}" for b in v)


def _text(v):
    try:
        return str(v)
    except Exception:
        raise ResultError(f"a value of type {type(v).__name__} cannot be shown as text") from None


def plain(v, depth=0):
    """A value as JSON; ResultError for what has no such form."""
    if depth > 20:
        raise ResultError("the value is nested too deeply")
    if isinstance(v, dict):
        return {_text(k): plain(x, depth + 1) for k, x in v.items()}
    if isinstance(v, (list, tuple, set, frozenset)):
        return [plain(x, depth + 1) for x in v]
    if isinstance(v, np.ndarray):
        return plain(v.tolist(), depth + 1)
    if isinstance(v, (pd.DataFrame, pd.Series)):
        return plain(v.to_dict("records") if isinstance(v, pd.DataFrame) else v.to_dict(), depth + 1)
    if isinstance(v, np.generic):
        return plain(v.item(), depth + 1) if not isinstance(v, (np.datetime64, np.timedelta64)) else _text(v)
    return _cell(v)


def figures(limit):
    """The open figures as PNG, but for those that the code saved itself."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return
    for i, number in enumerate(plt.get_fignums()[:limit]):
        figure = plt.figure(number)
        if not getattr(figure, "_saved_by_job", False) and figure.get_axes():
            out = io.BytesIO()
            figure.savefig(out, format="png", dpi=100, bbox_inches="tight")
            yield f"figure_{i + 1}.png", out.getvalue()
        plt.close(figure)


def mark_saved_figures():
    from matplotlib.figure import Figure
    save = Figure.savefig

    def savefig(self, target, *args, **kwargs):
        save(self, target, *args, **kwargs)
        if isinstance(target, (str, os.PathLike)):
            self._saved_by_job = True
    Figure.savefig = savefig


def written(folder):
    """The files that the job left in its folder: (name, bytes or None, reason)."""
    found = sorted(os.path.join(root, f) for root, _, names in os.walk(folder) for f in names)
    for path in found:
        name = os.path.relpath(path, folder).replace(os.sep, "_")
        if name.startswith("."):
            continue
        if os.path.splitext(name)[1].lower() not in SUFFIXES:
            yield name, None, "not a kind of file that is kept"
            continue
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            yield name, None, "cannot be read"
            continue
        with os.fdopen(fd, "rb") as f:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode) or info.st_size > FILE_BYTES:
                yield name, None, "no plain file" if not stat.S_ISREG(info.st_mode) else f"larger than {FILE_BYTES >> 20} MiB"
                continue
            yield name, f.read(FILE_BYTES), ""
