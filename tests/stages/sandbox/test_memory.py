"""All processes of a command together take no more memory than they may (requirements S 31, F60)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stages.sandbox import Bounds, memory
from stages.sandbox.memory import Memory
from tests.stages.sandbox.ways import Way, World

MIB = 2**20
TOGETHER = Bounds(memory_bytes=256 * MIB, together_bytes=300 * MIB)

CHILDREN = """
import os, time
for n in range(10):
    if os.fork() == 0:
        held = bytearray(size)
        for at in range(0, size, 4096):
            held[at] = 1
        time.sleep(seconds)
        os._exit(0)
for _ in range(10):
    os.wait()
print("done")
"""
SHARED = """
import os, time
held = bytearray(os.urandom(1)) * size
for n in range(10):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
for _ in range(10):
    os.wait()
print("done")
"""
FILES_IN_MEMORY = """
import os, time
for n in range(10):
    file = os.memfd_create("held")
    for _ in range(size // 2**20):
        os.write(file, bytes(2**20))
time.sleep(60)
"""


def test_sec_31_ten_children_that_take_little_each_are_ended_together(every_way: Way, world: World) -> None:
    command = world.attack(CHILDREN, size=60 * MIB, seconds=60)
    control = world.attack(CHILDREN, size=60 * MIB, seconds=0)

    assert every_way.outside(control) == "done\n"
    ran = every_way.run(command, TOGETHER)

    assert (ran.exit_status, ran.filled_memory, ran.timed_out, ran.filled_disk) == (None, True, False, False)
    assert "together took more memory" in ran.output
    assert ran.seconds < 15


def test_sec_31_files_in_memory_count(walls: Way, world: World) -> None:
    if walls.ordinary:
        pytest.skip("whose they are makes no difference to the count")
    ran = walls.run(world.attack(FILES_IN_MEMORY, size=60 * MIB), TOGETHER)

    assert (ran.exit_status, ran.filled_memory) == (None, True)


def test_a_machine_out_of_memory_ends_commands_first(every_way: Way, world: World) -> None:
    script = "print(open('/proc/self/oom_score_adj').read().strip())"

    assert every_way.run(world.python(script)).output == "1000\n"


def test_pages_that_children_share_count_once(way: Way, world: World) -> None:
    ran = way.run(world.attack(SHARED, size=100 * MIB), TOGETHER)

    assert (ran.exit_status, ran.output) == (0, "done\n")


def test_little_memory_is_no_matter(way: Way, world: World) -> None:
    ran = way.run(world.attack(CHILDREN, size=10 * MIB, seconds=0.5), TOGETHER)

    assert (ran.exit_status, ran.output, ran.filled_memory) == (0, "done\n", False)


def looked(watcher: Memory) -> bool:
    """What it says at its first look."""
    watcher._look_at = 0.0
    return watcher.too_much()


def test_a_process_that_is_gone_takes_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()

    assert not looked(Memory(process.pid, at_most=1))


def test_a_process_that_ends_while_it_is_looked_for_is_passed_over() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    family = memory._family(os.getpid())

    try:
        assert process.pid in family, "it is not found even while it is there"
    finally:
        process.kill()
        process.wait()

    assert process.pid not in list(family)


def test_a_kernel_that_lists_no_children_is_asked_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: not path.match("children") and exists(path))
    code = "import time; held = bytearray(b'x') * (50 << 20); print(flush=True); time.sleep(60)"
    shell = ["sh", "-c", '"$0" -c "$1"; :', sys.executable, code]
    process = subprocess.Popen(shell, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        process.stdout.readline()

        assert looked(Memory(process.pid, at_most=40 * MIB))
        assert not looked(Memory(process.pid, at_most=200 * MIB))
    finally:
        os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()


def test_a_look_is_cheap() -> None:
    watcher = Memory(os.getpid(), at_most=2**50)
    began = os.times()

    for _ in range(50):
        assert not looked(watcher)

    ended = os.times()
    assert ended.user + ended.system - began.user - began.system < 0.5  # 1 % of a processor, at ten looks a second
