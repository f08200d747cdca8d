"""Between two runs of a pytest that stays loaded nothing is left of the first, and no run reaches what stays.

Each test shows first that what it looks for is there: `before` in the tree is run together with `leave`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stages.checks import Checks
from stages.collector import server
from stages.sandbox import Command, Ran
from stages.sandbox.bubblewrap import Bubblewrap
from tests.stages.warm import LEAVE, PYTEST, SEE, cold, kept, passed, tree

PASSES = {"test_a.py": "def test_see(): pass\n"}


# What a run leaves, and how it is seen.
LEFT = {
    "a process": (
        """
        if os.fork() == 0:
            os.setsid()
            for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()
        time.sleep(0.2)
        """,
        "[name for name in os.listdir('/proc') if name.isdigit() and name not in ('1', str(os.getpid()))]",
    ),
    "a process that was stopped": (
        "child = os.fork() or time.sleep(600)\nos.kill(child, signal.SIGSTOP)",
        "[name for name in os.listdir('/proc') if name.isdigit() and name not in ('1', str(os.getpid()))]",
    ),
    "a file": ("open('/tmp/left', 'w').close()", "os.path.exists('/tmp/left')"),
    "a file in shared memory": ("open('/dev/shm/left', 'w').close()", "os.listdir('/dev/shm')"),
    "a file at home": ("open(os.path.expanduser('~/.left'), 'w').close()", "os.listdir(os.path.expanduser('~'))"),
    "folders": ("os.makedirs('/tmp/left/a/b/c'); os.symlink('/tree', '/tmp/left/l')", "os.path.exists('/tmp/left')"),
    "a variable": ("os.environ['LEFT'] = '1'", "'LEFT' in os.environ"),
    "a module": ("import wave", "'wave' in sys.modules"),
    "a module of the tree": ("import shop; shop.price = 5", "getattr(sys.modules.get('shop'), 'price', None) == 5"),
    "a changed module of pytest": ("pytest.left = 1", "hasattr(pytest, 'left')"),
    "a folder": ("os.chdir('/usr')", "os.getcwd() == '/usr'"),
    "a mask": ("os.umask(0o077)", "os.umask(0o022) == 0o077"),
    "a handler": ("signal.signal(signal.SIGUSR1, print)", "signal.getsignal(signal.SIGUSR1) is print"),
    "a lower limit": (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))",
        "resource.getrlimit(resource.RLIMIT_NOFILE)[1] == 100",
    ),
    "a descriptor": ("os.dup2(1, 77)", "os.path.exists('/proc/self/fd/77')"),
    "a message queue": (
        "assert ctypes.CDLL('librt.so.1').mq_open(b'/left', os.O_CREAT | os.O_RDWR, 0o600, None) >= 0",
        "ctypes.CDLL('librt.so.1').mq_open(b'/left', os.O_RDWR) >= 0",
    ),
}
# What cannot be taken away: the next run has a new sandbox.
TOO_MUCH = {
    "memory by key": (
        "assert ctypes.CDLL(None).shmget(77, 4096, 0o1600) >= 0",
        "ctypes.CDLL(None).shmget(77, 0, 0) >= 0",
    ),
    "a lower limit of what stays": (
        "resource.prlimit(1, resource.RLIMIT_NOFILE, (100, 100))",
        "re.search('open files +100 ', open('/proc/1/limits').read())",
    ),
    "a worse turn of what stays": (
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "os.getpriority(os.PRIO_PROCESS, 1) == 19",
    ),
    "a worse turn of its whole session": (
        """
        for _ in range(100):  # one write in a tenth of a second, of all processes of the machine
            try:
                with open('/proc/self/autogroup', 'w') as file:
                    file.write('19')
                break
            except BlockingIOError:
                time.sleep(0.05)
        """,
        "'nice 19' in open('/proc/1/autogroup').read()",
    ),
    "fewer processors of what stays": (
        "os.sched_setaffinity(1, {max(os.sched_getaffinity(0))})",
        "len(os.sched_getaffinity(1)) == 1",
    ),
    "a folder that is closed": ("os.makedirs('/tmp/left/a'); os.chmod('/tmp/left', 0)", "os.path.exists('/tmp/left')"),
    "too many files": (
        f"for number in range({server._LEFT_AT_MOST}): open(f'/tmp/{{number}}', 'w').close()",
        "os.path.exists('/tmp/7')",
    ),
    "a port that is not free yet": (
        """
        with socket.create_server(("127.0.0.1", 8123)) as server:
            client = socket.create_connection(("127.0.0.1", 8123))
            ours, _ = server.accept()
            ours.close()
            client.close()
        """,
        "':1FBB' in open('/proc/net/tcp').read()",
    ),
}


def leaving(folder: Path, leave: str, seen: str) -> Path:
    return tree(
        folder,
        {
            "shop.py": "price = 4\n",
            "test_a.py": "import ctypes, os, pytest, re, resource, signal, socket, sys, time\n\n"
            "def test_leave():\n    exec(LEAVE)\n    assert eval(SEEN)\n\n"
            "def test_see():\n    assert not eval(SEEN)\n\n"
            f"import textwrap\nLEAVE, SEEN = textwrap.dedent({leave!r}), {seen!r}\n",
        },
    )


@pytest.mark.parametrize(("leave", "seen"), LEFT.values(), ids=LEFT)
def test_what_a_run_leaves_the_next_one_does_not_see(leave: str, seen: str, tmp_path: Path) -> None:
    made = leaving(tmp_path, leave, seen)

    with kept() as checks:
        assert passed(checks.run(made, LEAVE)), "it is not there even in the run that leaves it"
        assert passed(checks.run(made, SEE))

        assert len(checks.sessions) == 1


@pytest.mark.parametrize(("leave", "seen"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_cannot_be_taken_away_ends_the_session(leave: str, seen: str, tmp_path: Path) -> None:
    made = leaving(tmp_path, leave, seen)
    if "autogroup" in leave and not Path("/proc/self/autogroup").exists():
        pytest.skip("this kernel has no groups of sessions")
    if "affinity" in leave and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor cannot become fewer")

    with kept() as checks:
        assert passed(checks.run(made, SEE))
        assert passed(checks.run(made, LEAVE)), "it is not there even in the run that leaves it"
        assert len(checks.sessions) == 1
        assert passed(checks.run(made, SEE))
        assert passed(checks.run(made, SEE))

        assert len(checks.sessions) == 2


def test_folders_that_are_very_deep_are_not_seen(tmp_path: Path) -> None:
    """Whether they can be taken away hangs on the interpreter."""
    leave = "os.chdir('/tmp')\nfor _ in range(3000): os.mkdir('left'); os.chdir('left')"
    made = leaving(tmp_path, leave, "os.path.exists('/tmp/left')")

    with kept() as checks:
        assert passed(checks.run(made, LEAVE)), "it is not there even in the run that leaves it"
        assert passed(checks.run(made, SEE))
        assert passed(checks.run(made, SEE))

        assert 1 <= len(checks.sessions) <= 2


HIDES = """
    import os, sys

    with open("/tree/loaded", "a") as file:
        file.write(f"{os.getpid()} ")
    sys.path.remove("/tree/src")
    del sys.modules["sitecustomize"]
"""


def test_nothing_that_a_check_sets_has_what_stays_load_the_tree(tmp_path: Path) -> None:
    made = tree(tmp_path, {**PASSES, "src/sitecustomize.py": HIDES})
    check = replace(PYTEST, environment=(("PYTHONPATH", "src"),))

    with kept() as checks:
        assert passed(checks.run(made))
        assert not (made / "loaded").exists()
        assert passed(checks.run(made, check=check))

        loaded = (made / "loaded").read_text().split()
        assert len(checks.sessions) == 1
    assert loaded != [], "it is loaded by nobody"
    assert "1" not in loaded


@pytest.mark.parametrize("name", ["HOME", "TMPDIR", "PYTHONPYCACHEPREFIX", "OPENSSL_CONF"])
def test_a_check_with_variables_of_its_own_runs_cold(name: str, tmp_path: Path) -> None:
    made = tree(tmp_path, {"test_a.py": f"import os\n\ndef test_see(): assert os.environ[{name!r}] == '/tree'\n"})

    with kept() as checks:
        assert passed(checks.run(made, check=replace(PYTEST, environment=((name, "/tree"),))))

        assert checks.sessions == []


def test_an_interpreter_that_is_not_ours_runs_cold(tmp_path: Path) -> None:
    """The files of its environment may name the tree, as those of an editable install do."""
    cold()
    commands: list[Command] = []

    class Seen(Bubblewrap):
        def _run(self, command: Command, stopped: Callable[[], bool]) -> Ran:
            commands.append(command)
            return super()._run(command, stopped)

    made = tree(tmp_path, {**PASSES, "theirs/test_a.py": ""})
    ours, theirs = Path(sys.executable), Path(sys.executable).resolve()
    for python in (ours, theirs):
        Checks(Seen(), python).run(PYTEST, made)
    with_both = Checks(Seen(), lambda folder: theirs if folder == "theirs" else ours)
    for folder in (".", "theirs"):
        with_both.run(replace(PYTEST, folder=folder), made)

    assert [bool(command.staying) for command in commands] == [True, False, True, False]
    assert [command.arguments[0] for command in commands] == [str(ours), str(theirs), str(ours), str(theirs)]


REACH = """
    import os, signal, subprocess, time
    import pytest

    @pytest.fixture
    def other():
        with subprocess.Popen(["/bin/sleep", "60"]) as process:
            yield process.pid
            process.kill()

    @pytest.mark.parametrize(
        ("name", "how"),
        [("mem", os.O_RDWR), ("environ", 0), ("fd", None), ("maps", 0), ("oom_score_adj", os.O_RDWR)],
    )
    def test_memory(other, name, how):
        def reached(pid):
            try:
                os.close(os.open(f"/proc/{pid}/{name}", how)) if how is not None else os.listdir(f"/proc/{pid}/{name}")
                return True
            except PermissionError:
                return False

        assert reached(other)
        assert not reached(1)

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGALRM])
    def test_signals(other, number):
        os.kill(other, number)
        os.kill(1, number)

        assert os.waitid(os.P_PID, other, os.WEXITED | os.WSTOPPED | os.WNOWAIT).si_pid == other
        assert open("/proc/1/stat").read().rpartition(")")[2].split()[0] in "SR"
"""


def test_no_run_reaches_what_stays(tmp_path: Path) -> None:
    made = tree(tmp_path, {"test_a.py": REACH})

    with kept() as checks:
        first, second = checks.run(made), checks.run(made)

        assert len(checks.sessions) == 1
    for report in (first, second):
        assert report.passed, report.output
        assert len(report.outcomes) == 10


def test_what_stays_kills_nothing_where_it_is_not_the_first_process() -> None:
    """The order to fork never comes here: nothing is killed even if the guard is gone."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with ours, theirs:
        done = subprocess.Popen(
            [
                sys.executable,
                "-s",
                "-P",
                "-B",
                str(Path(server.__file__).with_name("launcher.py")),
                "stay",
                "/tree",
                "9",
            ],
            pass_fds=[theirs.fileno()],
            stderr=subprocess.PIPE,
            text=True,
        )
        _, said = done.communicate(timeout=30)

    assert (done.returncode, said) == (1, "this is not the first process of a sandbox\n")
