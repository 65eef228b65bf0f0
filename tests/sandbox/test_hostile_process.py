"""A process that is no compiler any more: what it can do, how long, and what its answers can do to the parent.

Each test plants a small program where the compiler would run; it stands for one that a source has taken over.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

import tilec
from tilec.errors import CompileError, InternalError, SandboxError, TilecError
from tilec.runtime.sandbox import confine
from tilec.runtime.sandbox.compiler import SandboxedCompiler
from tilec.runtime.sandbox.limits import Sandbox
from tilec.runtime.sandbox.process import Broken, Exceeded, Process
from tilec.source import Source

SOURCE = Source("k.ph", "kernel k(A: tensor<f32>[M]) {\n  A[:] = 0.0\n}\n")
SAY = """
import json, os, sys, time
def say(**message):
    print(json.dumps(message), flush=True)
"""
READY = SAY + "say(ready=confine.close())\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has only the limit of time")


def load(program: str, source: Source | Path = SOURCE, **limits: float) -> None:
    SandboxedCompiler(source, Sandbox(**limits), program=program).load()  # type: ignore[arg-type]


def answer_of(program: str, **limits: float) -> dict:
    """What a planted program says first."""
    process = Process(Sandbox(**limits), SAY + program)  # type: ignore[arg-type]
    try:
        return dict(process.receive())
    finally:
        process.end()


# --- time, memory, output ------------------------------------------------------------------------------------

RUNAWAYS = {
    "works": "while True: pass",
    "sleeps": "import time; time.sleep(1000)",
    "works after it was ready": READY + "while True: pass",
    "sleeps in the middle of an answer": READY + "sys.stdout.write('{'); sys.stdout.flush(); time.sleep(1000)",
    "closes its output and goes on": "import os, time; os.close(1); time.sleep(1000)",
    "asks for ever": READY + "while True: say(locate=[0, ['x.ph']]); sys.stdin.readline()",
    "holds on to signals": "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)",
}


@pytest.mark.parametrize("what", RUNAWAYS)
def test_a_runaway_is_ended_in_time(what: str) -> None:
    began = time.monotonic()
    with pytest.raises(CompileError, match=r"E0515.*more than 1.5 seconds(.|\n)*k.ph:1:1"):
        load(RUNAWAYS[what], seconds=1.5)
    assert time.monotonic() - began < 6


def test_one_that_reads_nothing_is_ended_too() -> None:
    began = time.monotonic()
    with pytest.raises(CompileError, match="E0515"):
        load(READY + "time.sleep(1000)", Source("k.ph", "// " + "x" * 1_000_000), seconds=1.5)
    assert time.monotonic() - began < 6


@posix
def test_time_of_the_processor() -> None:
    with pytest.raises(CompileError, match="more than 1 seconds of the processor"):
        load("while True: pass", seconds=60, processor_seconds=1)


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not hold this limit")
def test_memory() -> None:
    bomb = """
from tilec.runtime.sandbox import child
load = child._load_everything
def planted():
    load()
    def parse_file(*arguments):
        held = []
        while True:
            held.append(bytearray(1 << 24))
    child.driver.parse_file = parse_file
child._load_everything = planted
child.main()
"""
    with pytest.raises(CompileError, match="more than 536,870,912 bytes of memory"):
        load(bomb, memory_bytes=1 << 29)
    with pytest.raises(InternalError, match="ended without an answer"):
        load("bytearray(1 << 40)")


def test_output() -> None:
    for endless in ("'x' * 5000", "'x' * 5000 + chr(10)", "json.dumps('x' * 5000)"):
        with pytest.raises(CompileError, match="more than 4,000 bytes of output"):
            load(SAY + f"print({endless}, flush=True); time.sleep(1000)", answer_bytes=4000, seconds=30)
    with pytest.raises(CompileError, match="more than 4,000 bytes of output"):
        load(SAY + "while True: sys.stdout.write('x' * 5000)", answer_bytes=4000, seconds=30)


# --- answers that are none -----------------------------------------------------------------------------------

GARBAGE = {
    "words": ("print('hello', flush=True)", "no JSON"),
    "bytes": ("sys.stdout.buffer.write(bytes(range(256)) + b'\\n')", "no JSON"),
    "a list": ("print([1, 2])", "no message"),
    "deep": ("print('[' * 100000)", "no JSON"),
    "a long number": ("print('{\"ready\": ' + '9' * 1000000 + '}')", "no JSON"),
    "no list": ("say(ready=5)", "does not answer"),
    "nothing is ready": ("say(ready=[])", None),
    "nothing": ("", r"ended without an answer \(exit code 0\)"),
    "an exit code": ("sys.exit(3)", r"exit code 3"),
    "half a line": ("sys.stdout.write('{'); sys.stdout.flush()", "ended without an answer"),
    "an exception": ("1 / 0", "exit code 1"),
    "a signal": ("os.kill(os.getpid(), 11)", "signal 11, SIGSEGV"),
    "an answer without fields": (READY + "say(value=1)", "does not answer"),
    "a failure of its own": (READY + "say(value=1, sources=[], diagnostics=[], failure='odd')", "does not answer"),
    "an unknown file": (READY + "say(value=1, sources=[[7, 'a.ph']], diagnostics=[])", "does not answer"),
    "a pickle": ("import pickle\n" + READY + "print(repr(pickle.dumps({'value': 1})))", "no JSON"),
    "a file that is none": (READY + "say(read='k.ph')", "does not answer"),
    "a negative file": (READY + "say(read=-1)", "does not answer"),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_a_clear_error(what: str) -> None:
    program, words = GARBAGE[what]
    if words is None and not confine.required():
        return
    with pytest.raises(SandboxError if words is None else InternalError, match=words or "does not hold") as failed:
        load(SAY + program, seconds=30)
    assert str(failed.value).isprintable()


def test_texts_of_a_failure_do_not_reach_the_terminal_raw() -> None:
    said = "say(value=None, sources=[], diagnostics=['\\x1b[31m'], failure='refused')"
    with pytest.raises(TilecError) as failed:
        load(READY + said)
    assert "\x1b" not in str(failed.value)


# --- what it can reach ---------------------------------------------------------------------------------------

TRY = """
def attempt(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return 'done'
"""


@posix
def test_nothing_is_written_and_nothing_is_reached(tmp_path: Path) -> None:
    told = answer_of(
        TRY + f"""
import socket, subprocess, tempfile
held = confine.close()
known = attempt(lambda: os.write(1, b''))
say(held=held, known=known, folder=os.getcwd(), writes=[
    attempt(lambda: open({str(tmp_path / "planted")!r}, 'w')),
    attempt(lambda: open('planted', 'w')),
    attempt(lambda: os.open('.', os.O_RDONLY)),
    attempt(lambda: open(__import__('os').devnull)),
    attempt(lambda: os.open('/etc/passwd', os.O_RDONLY)),
    attempt(os.pipe),
    attempt(lambda: os.dup(1)),
    attempt(socket.socket),
    attempt(lambda: socket.socketpair()),
    attempt(os.fork),
    attempt(lambda: subprocess.run(['true'])),
    attempt(lambda: os.mkdir({str(tmp_path / "planted_folder")!r}) if os.geteuid() else os.mkdir('/a')),
])
"""
    )
    assert set(told["held"]) >= confine.required()
    assert told["known"] == "done"
    if os.geteuid() == 0:
        assert told["folder"] == "/"
        assert "done" not in told["writes"]
    else:
        assert "done" not in told["writes"][:-1]  # a folder of the user's own is no descriptor: limits do not stop it
    assert not (tmp_path / "planted").exists()


@posix
def test_files_cannot_be_filled_before_the_source_is_read_either(tmp_path: Path) -> None:
    told = answer_of(
        TRY + f"""
def fill():
    with open({str(tmp_path / "planted")!r}, 'w') as file:
        file.write('x' * 100)
say(fill=attempt(fill))
"""
    )
    assert told["fill"] != "done"
    assert not (tmp_path / "planted").exists() or (tmp_path / "planted").read_text() == ""


@posix
def test_it_has_no_environment_and_no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEC_SECRET", "secret")
    monkeypatch.setenv("PYTHONPATH", f"{os.environ.get('PYTHONPATH', '')}:/nowhere")
    told = answer_of(
        "say(variables=sorted(os.environ), path=sys.path, flags=[sys.flags.isolated, sys.flags.no_site, "
        "sys.flags.dont_write_bytecode], files=sorted(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') "
        "else [], uid=os.geteuid())"
    )
    assert not {"TILEC_SECRET", "PYTHONPATH", "HOME", "PATH"} & set(told["variables"])
    assert "/nowhere" not in told["path"]
    assert "" not in told["path"]
    assert told["flags"] == [1, 1, 1]
    assert set(told["files"]) <= {"0", "1", "2", "3"}  # 3 lists them


@posix
def test_root_is_given_up() -> None:
    told = answer_of("confine.close(); say(ids=[os.getuid(), os.geteuid(), os.getgid(), len(os.getgroups())])")
    if os.geteuid() == 0:
        assert told["ids"] == [confine.NOBODY, confine.NOBODY, confine.NOBODY, 0]
    else:
        assert told["ids"][0] == os.getuid()


@posix
def test_what_it_started_ends_with_it() -> None:
    """Started before its limits held, which the compiler never does."""
    program = """
pid = 0
try:
    pid = os.fork()
except OSError:
    pid = -1
if pid == 0:
    time.sleep(1000)
say(pid=pid)
"""
    process = Process(Sandbox(seconds=30), SAY + program)
    pid = process.receive()["pid"]
    process._deadline = time.monotonic() + 1
    with pytest.raises((Broken, Exceeded)):
        process.receive()
    process.end()
    if pid > 0:
        deadline = time.monotonic() + 10
        while _is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@posix
def test_it_ends_by_itself_when_nobody_is_left_to_end_it() -> None:
    """As when the caller's process was killed: nobody waits for it, nobody ends it."""
    process = Process(Sandbox(seconds=0.5), "import time; time.sleep(1000)")
    try:
        deadline = time.monotonic() + 10
        while not process._is_over() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process._is_over()
    finally:
        process.end()


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    SandboxedCompiler(SOURCE, Sandbox()).load()
    for program in ("", "1 / 0", "while True: pass"):
        with pytest.raises(TilecError):
            load(program, seconds=1)
    assert list(tmp_path.iterdir()) == []


def test_without_processes_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    for executable in ("", "/no/such/python"):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(SandboxError, match="a process of its own"):
            load("")


# --- what it asks for ----------------------------------------------------------------------------------------


def test_it_is_given_no_file_that_an_import_would_not_be(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "lib").mkdir(parents=True)
    (tmp_path / "secret.ph").write_text("secret")
    (folder / "secret.txt").write_text("secret")
    (folder / "out.ph").symlink_to(tmp_path / "secret.ph")
    (folder / "lib/out").symlink_to(tmp_path)
    (folder / "main.ph").write_text("// main\n")
    (folder / "lib/good.ph").write_text("// good\n")
    asked = [
        ["..", "secret.ph"], ["lib", "..", "..", "secret.ph"], ["../secret.ph"], [str(tmp_path / "secret.ph")],
        ["/", *tmp_path.parts[1:], "secret.ph"], ["secret.txt"], ["out.ph"], ["lib", "out", "secret.ph"], [], [""],
        ["lib\\..\\..\\secret.ph"], ["lib", "good.ph"], ["con.ph"], ["lib", "a:b.ph"], ["\0.ph"], ["\ud800.ph"],
    ]  # fmt: skip
    program = READY + f"""
sys.stdin.readline()
found = []
for parts in {asked!r}:
    say(locate=[0, parts])
    answer = json.loads(sys.stdin.readline())
    if answer['file'] is not None:
        say(read=answer['file'])
        answer = json.loads(sys.stdin.readline())
    found.append(answer)
say(value=None, sources=[], diagnostics=[json.dumps(found)], failure='refused')
"""
    with pytest.raises(CompileError) as told:
        load(program, folder / "main.ph")
    found = json.loads(told.value.diagnostics[0])
    assert len(found) == len(asked)
    assert "c2VjcmV0" not in str(found)  # the secret as it would travel
    assert [index for index, one in enumerate(found) if one.get("data")] == [asked.index(["lib", "good.ph"])]


def test_less_memory_than_the_compiler_itself_takes() -> None:
    """The process ends before it can say so: no fault of the compiler's."""
    with pytest.raises(CompileError, match="more than 20,971,520 bytes of memory"):
        tilec.compile(source=SOURCE.text, sandbox=Sandbox(memory_bytes=20 << 20))
