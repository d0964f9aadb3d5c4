# The runner: warms an interpreter up, waits for one job, runs it, dies.
#
#   server --job--> child: limits, filter, user code --frames--> parent --stdout--> server
#
# The parent never runs user code: it carries the child's stdout, stderr and own
# frames to its real stdout and adds the exit status, which the child cannot forge.
# A frame is a 4-byte big-endian length, a JSON header of that length with `kind`
# and `len`, and `len` bytes.
import array
import ctypes
import fcntl
import gc
import glob
import linecache
import platform
import resource
import select
import signal
import struct
import time
import traceback

SETTINGS = json.loads(os.environ.pop("BOX_SETTINGS"))
WORK = SETTINGS["work"]
FILTERED = platform.machine() == SETTINGS["machine"]  # call numbers are those of one processor
DRAIN = 64  # output beyond DRAIN times its cap ends the job


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:1 << 20]):]


def send(fd, kind, payload=b"", **header):
    head = json.dumps({"kind": kind, "len": len(payload), **header}).encode()
    write_all(fd, struct.pack(">I", len(head)) + head)
    if payload:
        write_all(fd, payload)


def warm_up():
    """Imports what jobs use and walks the common paths once, so that jobs find them warm."""
    if SETTINGS["lean"]:
        return
    plt = plots()
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"], "d": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    frame.groupby("c").agg({"a": "sum", "b": "mean"}).reset_index().sort_values("a")
    frame.merge(frame, on="a").pivot_table(index="c_x", values="b_x")
    repr(frame), frame.describe(), frame.to_csv(io.StringIO())
    table(frame, 10)
    figure = plt.figure()
    plt.plot([1, 2])
    figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")
    plt.close("all")


def plots():
    """matplotlib, with its figures marked once they are saved."""
    fresh = "matplotlib.pyplot" not in sys.modules
    import matplotlib.pyplot as plt
    if fresh:
        mark_saved_figures()
    return plt


def versions():
    out = {"python": platform.python_version(), "pandas": pd.__version__, "numpy": np.__version__}
    if not SETTINGS["lean"]:
        import matplotlib
        out["matplotlib"] = matplotlib.__version__
    return out


def read_job():
    """The job and the descriptors that came with it: by socket, or as text on stdin."""
    fds = array.array("i")
    if SETTINGS["transport"] == "socket":
        import _socket
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, 0)

        def read(n):
            data, ancillary, _, _ = sock.recvmsg(n, _socket.CMSG_SPACE(64 * fds.itemsize))
            for level, kind, raw in ancillary:
                if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                    fds.frombytes(raw[:len(raw) - len(raw) % fds.itemsize])
            return data
    else:
        def read(n):
            return os.read(0, n)

    def exactly(n):
        out = bytearray()
        while len(out) < n:
            part = read(min(n - len(out), 1 << 16))
            if not part:
                os._exit(0)  # the server went away
            out += part
        return bytes(out)

    size, = struct.unpack(">I", exactly(4))
    return json.loads(exactly(size)), list(fds)


def harden(job):
    """Limits and the second filter: from here on nothing can be taken back."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + job["cpu_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    for name, (soft, hard) in SETTINGS["limits"].items():
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (soft, hard))
    if FILTERED:
        install_filter(bytes.fromhex(SETTINGS["filter"]))


def install_filter(program):
    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    code = ctypes.create_string_buffer(program, len(program))
    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
    prctl(22, 2, ctypes.byref(Program(len(program) // 8, ctypes.addressof(code))))  # PR_SET_SECCOMP


def prctl(option, argument, pointer=0):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, argument, pointer, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option} was refused")


class Tables(dict):
    """The tables by name, loaded when they are asked for."""

    def __init__(self, sources):
        super().__init__()
        self._sources = sources

    def __missing__(self, name):
        source = self._sources.get(name)
        if source is None:
            raise KeyError(f"no table {name!r}; there are: {', '.join(sorted(self._sources)) or 'none'}")
        fd = source["fd"] if "fd" in source else os.open(source["path"], os.O_RDONLY)
        self[name] = frame = load_bundle(fd)
        return frame


def run_job(job, out):
    tree, space, tables = None, {"__name__": "__main__", "__builtins__": builtins, "__box__": True}, Tables(job["tables"])
    error = None
    ALLOWED.update(job["allow"])
    try:
        tree = ast.parse(job["code"], CODE, "exec")
        check(tree)
        linecache.cache[CODE] = (len(job["code"]), None, job["code"].splitlines(True), CODE)
        space.update(pd=pd, np=np, tables=tables)
        if "plt" in job["code"] or "matplotlib" in job["code"] or "plot" in job["code"]:
            space["plt"] = plots()
        named = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        for name in job["tables"]:
            if name in named:
                space[name] = tables[name]
        value = execute(tree, space)
    except SystemExit as e:
        value = None
        if e.code not in (None, 0):
            error = {"code": "user_error", "type": "SystemExit", "message": str(e.code), "line": last_line(e)}
    except PolicyError as e:
        error = {"code": "policy", "message": str(e), "line": e.line or last_line(e)}
    except MemoryError:
        space.clear()
        tables.clear()
        more_memory()
        error = {"code": "memory"}
    except BaseException as e:
        error = describe(e)
    arm(False)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    if error is None:
        try:
            known = max((len(v) for v in space.values() if isinstance(v, (pd.DataFrame, pd.Series))), default=0)
            hand_back(space.get("result_df"), value, job["rows"], known, out)
        except MemoryError:
            more_memory()
            error = {"code": "memory"}
        except BaseException as e:
            error = {"code": "result_error", "message": f"{e}" if isinstance(e, ResultError) else f"{type(e).__name__}: {e}"[:2000]}
    send(out, "done", error=error)


def execute(tree, space):
    """Runs the code; the value of a last expression is the result of a job that sets none."""
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    arm(True)
    exec(compile(tree, CODE, "exec"), space)
    return None if last is None else eval(compile(last, CODE, "eval"), space)


def more_memory():
    """The reserve above the soft limit is enough to say what happened."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    gc.collect()


def frames_of(e):
    return [f for f in traceback.extract_tb(e.__traceback__, limit=1000) if f.filename == CODE][-20:]


def last_line(e):
    frames = frames_of(e)
    return frames[-1].lineno if frames else 0


def describe(e):
    """An exception as the writer of the code sees it: no frame but their own."""
    try:
        message = str(e)
    except BaseException:
        message = ""
    if isinstance(e, SyntaxError) and e.filename == CODE:
        return {"code": "user_error", "type": type(e).__name__, "message": e.msg, "line": e.lineno or 0, "frames": [{"line": e.lineno or 0, "text": (e.text or "").rstrip()[:200]}]}
    frames = [{"line": f.lineno, "function": f.name, "text": f.line[:200]} for f in frames_of(e)]
    return {"code": "user_error", "type": type(e).__name__, "message": message[:2000], "line": last_line(e), "frames": frames}


def hand_back(result, value, limit, known, out):
    if result is not None:
        try:
            emit_table(result, limit, known, out)
        except NoTable:
            raise ResultError(f"result_df is a {type(result).__name__}; make it a DataFrame, Series, list, dict or plain value") from None
    elif value is not None:
        try:
            emit_table(value, limit, known, out)
        except (NoTable, ResultError):
            pass  # the last expression was there for its effect, such as a plot
    count = 0
    for name, data in figures(FILES):
        send(out, "file", data, name=name)
        count += 1
    for name, data, reason in written(WORK):
        if data is not None and count >= FILES:
            data, reason = None, f"more than {FILES} files"
        if data is None:
            send(out, "skipped", name=name[:200], reason=reason)
        else:
            send(out, "file", data, name=name[:200])
            count += 1


def emit_table(value, limit, known, out):
    head, rows = table(value, limit, known)
    send(out, "table", rows, **head)
    if not isinstance(value, (pd.DataFrame, pd.Series, pd.Index, np.ndarray)):
        raw = json.dumps(plain(value), allow_nan=False).encode("utf-8", "replace")
        if len(raw) <= 1 << 20:
            send(out, "value", raw)


def child(pipes):
    """Never returns. Descriptor 4 is its way to hand back."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it dies with the parent
    job, fds = read_job()
    null = os.open("/dev/null", os.O_RDONLY)
    for i, fd in enumerate(fds):  # out of the way of the numbers below
        fds[i] = fcntl.fcntl(fd, fcntl.F_DUPFD, 32)
    os.dup2(null, 0)
    os.dup2(pipes[0], 1)
    os.dup2(pipes[1], 2)
    os.dup2(pipes[2], 4)
    os.closerange(5, 32)
    os.closerange(3, 4)
    for source in job["tables"].values():
        if "fd" in source:
            source["fd"] = fds[source["fd"]]
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    os.chdir(WORK)
    harden(job)
    send(4, "started")
    run_job(job, 4)
    os._exit(0)


def carry(pid, streams, out):
    """Carries the child's output to the server until all of it has ended. A server
    that closes its end, or dies, ends the child."""
    cap = SETTINGS["output_bytes"]
    total = dict.fromkeys(streams, 0)
    flooded = False
    left = dict(streams)
    poll = select.poll()
    for fd in left:
        poll.register(fd, select.POLLIN)
    if SETTINGS["transport"] != "folder":
        poll.register(0, 0)  # only its end is of interest: the job is the child's to read
    while left:
        for fd, event in poll.poll():
            if fd == 0:
                os.kill(pid, signal.SIGKILL)
                poll.unregister(0)
                continue
            data = os.read(fd, 1 << 16)
            kind = left[fd]
            if not data:
                poll.unregister(fd)
                del left[fd]
                os.close(fd)
                continue
            before = total[fd]
            total[fd] += len(data)
            if kind != "raw":
                if total[fd] > DRAIN * cap and not flooded:
                    flooded = True
                    os.kill(pid, signal.SIGKILL)
                data = data[:max(0, cap - before)]
            if data:
                send(out, kind, data)
    _, status, usage = os.wait4(pid, 0)
    truncated = any(total[fd] > cap for fd, kind in streams.items() if kind != "raw")
    send(out, "exit", code=os.waitstatus_to_exitcode(status), flooded=flooded, truncated=truncated,
         rss_kb=usage.ru_maxrss, cpu_seconds=usage.ru_utime + usage.ru_stime)


def main():
    started = time.perf_counter()
    os.makedirs(WORK, exist_ok=True)
    warm_up()
    caches = glob.glob(os.path.join(os.environ.get("MPLCONFIGDIR", "/nowhere"), "fontlist-*.json"))
    fonts = b""
    if caches and not SETTINGS["fonts"]:
        with open(caches[0], "rb") as f:
            fonts = f.read()
    out = 1
    if SETTINGS["transport"] == "folder":
        out = os.open("/job/frames", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(os.open("/job/job", os.O_RDONLY), 0)
    pipes = [os.pipe() for _ in range(3)]
    gc.collect()
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        try:
            child([p[1] for p in pipes])
        finally:
            os._exit(112)
    for p in pipes:
        os.close(p[1])
    send(out, "ready", fonts, filtered=FILTERED, warm_ms=(time.perf_counter() - started) * 1e3, versions=versions(), fonts=os.path.basename(caches[0]) if caches else "")
    carry(pid, {pipes[0][0]: "stdout", pipes[1][0]: "stderr", pipes[2][0]: "raw"}, out)
    os._exit(0)


main()
