# The import policy: help for the model that writes the code, not a wall. It turns
# what the walls would refuse with EPERM into a sentence with a line and a reason.
import ast
import builtins
import sys

CODE = "<code>"  # the file name of user code in every traceback

ALLOWED = {
    "__future__", "abc", "base64", "bisect", "calendar", "cmath", "collections", "colorsys", "contextlib", "copy", "csv", "dataclasses",
    "datetime", "dateutil", "decimal", "difflib", "enum", "fractions", "functools", "glob", "hashlib", "heapq", "html", "io", "itertools", "json", "logging",
    "math", "matplotlib", "mpl_toolkits", "numbers", "numpy", "openpyxl", "operator", "os.path", "pandas", "pathlib", "pprint", "pytz",
    "random", "re", "scipy", "seaborn", "sklearn", "statistics", "statsmodels", "string", "struct", "textwrap", "time", "timeit", "traceback", "types",
    "typing", "unicodedata", "uuid", "warnings", "zoneinfo",
}
COMMON = "pandas, numpy, matplotlib, scipy, math, statistics, datetime, decimal, json, csv, re, collections, itertools"

NAMES = {
    "eval": "it runs text as code", "exec": "it runs text as code", "compile": "it runs text as code",
    "__import__": "write an import statement", "breakpoint": "nobody can debug here", "input": "nobody can answer here",
}
ATTRIBUTES = {
    "__subclasses__", "__globals__", "__builtins__", "__code__", "__closure__", "__bases__", "__base__", "__mro__", "__loader__", "__spec__",
    "__getattribute__", "__reduce__", "__reduce_ex__", "f_globals", "f_locals", "f_builtins", "f_back", "gi_frame", "cr_frame", "ag_frame",
    "tb_frame", "ctypeslib", "read_pickle", "to_pickle", "_os", "_sys",
}
EVENTS = (
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.kill", "pty.spawn", "socket.",
    "ctypes.dlopen", "ctypes.dlsym", "urllib.Request", "ftplib.", "smtplib.", "telnetlib.", "http.client.", "webbrowser.open", "syslog.",
    "signal.pthread_kill", "shutil.chown",
)


class PolicyError(Exception):
    def __init__(self, message, line=0):
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


def check_import(name, line=0):
    if name not in ALLOWED and name.partition(".")[0] not in ALLOWED:
        raise PolicyError(f"import of {name!r} is not allowed in the sandbox; allowed: {COMMON} and the like", line)


def check(tree):
    """Refuses what user code may not say, with the line where it says it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                check_import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise PolicyError("a relative import is not possible in the sandbox", node.lineno)
            if node.module == "os" and all(a.name == "path" for a in node.names):
                continue
            check_import(node.module, node.lineno)
        elif isinstance(node, ast.Name) and node.id in NAMES:
            raise PolicyError(f"{node.id}() is not allowed in the sandbox: {NAMES[node.id]}", node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            raise PolicyError(f"the attribute {node.attr!r} is not allowed in the sandbox", node.lineno)


_import = builtins.__import__
_armed = False


def _guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
    if globals is not None and globals.get("__box__"):  # asked by user code, not by a library
        check_import("os.path" if name == "os" and tuple(fromlist or ()) == ("path",) else name)
    return _import(name, globals, locals, fromlist, level)


def _audit(event, args):
    if _armed and event.startswith(EVENTS):
        raise PolicyError(f"the operation {event!r} is not allowed in the sandbox")


def arm(on):
    """Switches the run-time half of the policy; an audit hook cannot be removed."""
    global _armed
    _armed = on
    builtins.__import__ = _guarded_import if on else _import


sys.addaudithook(_audit)
