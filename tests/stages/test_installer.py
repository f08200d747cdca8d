"""The install phase: its own network, its own key, and nothing that can change what it kept (requirements S 32, 33)."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.checks import Checks
from stages.errors import ParkCause, Parked, Stopped
from stages.installed import Installed, Kept, Note, Shelf
from stages.installer import Base, Installer
from stages.installs import Install, detect_installs
from stages.lending import Lending
from stages.report import Check, CheckKind
from stages.sandbox import Command, Level, Sandbox
from stages.sandbox.plain import Plain
from stages.toolchains import Toolchains
from tests.stages.repositories import commit, make
from tests.stages.sandbox.registry import serving
from tests.stages.sandbox.ways import PYTHON, Way, usable

FETCH = """
import os, sys, urllib.request
for url in sys.argv[2:]:
    try:
        data = urllib.request.urlopen(url, timeout=10).read()
    except OSError as error:
        print(url, error)
        sys.exit(4)
    with open(os.path.join(sys.argv[1], "fetched"), "ab") as file:
        file.write(data)
"""


@dataclass
class World:
    """A repository, an installer, and a registry that counts."""

    folder: Path
    sandbox: Sandbox
    host: str

    def base(self, files: dict[str, str], name: str = "one") -> Base:
        repository = make(self.folder / name, dict(files))
        return Base(repository=repository, commit=repository.resolve())

    def installer(self, **changes: object) -> Installer:
        usual = Installer(
            folder=self.folder / "installed",
            sandbox=self.sandbox,
            hosts=(self.host,),
            python=Path(sys.executable),
            owner="local",
        )
        return replace(usual, **changes)  # type: ignore[arg-type]

    def step(self, *urls: str, script: str = FETCH, **changes: object) -> Install:
        command = (str(PYTHON), "-I", "-S", "-c", script, "{kept}", *(urls or (f"http://{self.host}/x",)))
        usual = Install(name="fetch", commands=(command,), files=("lock",))
        return replace(usual, **changes)  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    sandbox = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    with serving({"/x": b"good"}) as (host, asked):
        world = World(folder=tmp_path, sandbox=sandbox, host=host)
        world.asked = asked  # type: ignore[attr-defined]
        yield world


def asked(world: World) -> int:
    return len(world.asked)  # type: ignore[attr-defined]


def content(kept: Kept) -> bytes:
    return (kept.folder / "fetched").read_bytes()


def only(installed: Installed) -> Kept:
    (kept,) = installed.kept
    return kept


# --- what it does ----------------------------------------------------------------------------------------------------


def test_what_is_fetched_is_kept_with_a_note_and_not_fetched_again(world: World) -> None:
    base = world.base({"lock": "1", "src.py": ""})

    first = only(world.installer().install(base, [world.step()]))
    again = only(world.installer().install(base, [world.step()]))

    assert (content(first), first.again, again.again) == (b"good", False, True)
    assert first.note == again.note
    assert (first.note.step, first.note.reached) == ("fetch", (world.host,))
    assert str(first.note).startswith(f"fetch, from {world.host}, in ")
    assert asked(world) == 1


def test_another_commit_with_the_same_lock_file_is_served_from_what_is_kept(world: World) -> None:
    base = world.base({"lock": "1", "src.py": ""})
    later = Base(repository=base.repository, commit=commit(base.repository.folder, {"src.py": "changed"}))
    other = Base(repository=base.repository, commit=commit(base.repository.folder, {"lock": "2"}))

    kept = [only(world.installer().install(each, [world.step()])) for each in (base, later, other)]

    assert [one.again for one in kept] == [False, True, False]
    assert kept[0].folder == kept[1].folder != kept[2].folder


def test_sec_33_what_a_step_sees_is_exactly_what_its_key_is_made_from(world: World) -> None:
    script = "import os, sys; open(sys.argv[1] + '/fetched', 'w').write(str(sorted(os.listdir('.'))))"
    base = world.base({"lock": "1", "evil/setup.py": "", "setup.py": ""})

    some = only(world.installer().install(base, [world.step(script=script)]))
    all_ = only(world.installer().install(base, [world.step(script=script, files=())]))
    changed = Base(repository=base.repository, commit=commit(base.repository.folder, {"setup.py": "evil"}))

    assert content(some) == b"['lock']"
    assert content(all_) == b"['evil', 'lock', 'setup.py']"
    assert only(world.installer().install(changed, [world.step(script=script)])).again
    assert not only(world.installer().install(changed, [world.step(script=script, files=())])).again


@pytest.mark.parametrize("name", ["tool", "node"])
def test_another_version_of_a_tool_installs_anew(world: World, name: str) -> None:
    tool, elsewhere = world.folder / "bin" / name, world.folder / "bin" / "other"
    for program in (tool, elsewhere):
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    base = world.base({"lock": "1"})
    installer = world.installer(toolchains=Toolchains(path=f"{tool.parent}:/usr/bin:/bin"))
    step = world.step(program="tool" if name == "tool" else "")

    only(installer.install(base, [step]))
    elsewhere.write_text("#!/bin/sh\n# of a newer one")
    same = only(installer.install(base, [step]))
    tool.write_text("#!/bin/sh\n# a newer one")
    anew = only(installer.install(base, [step]))

    assert (same.again, anew.again) == (True, False)
    assert same.folder != anew.folder


def test_sec_33_two_repositories_and_two_owners_never_share(world: World) -> None:
    one, two = world.base({"lock": "1"}, "one"), world.base({"lock": "1"}, "two")

    kept = [
        only(world.installer().install(one, [world.step()])),
        only(world.installer().install(two, [world.step()])),
        only(world.installer(owner="other").install(one, [world.step()])),
    ]

    assert len({each.folder.parent for each in kept}) == 3
    assert not any(each.again for each in kept)


def test_sec_33_a_later_command_reads_what_is_kept_and_cannot_write_it(world: World) -> None:
    kept = only(world.installer().install(world.base({"lock": "1"}), [world.step()]))
    tree = world.folder / "tree"
    tree.mkdir()
    script = f"cd {kept.folder}; cat fetched; echo evil > fetched; rm -f fetched; ls -d ../*"
    attack = Command(arguments=("sh", "-c", script), tree=tree, readable=(kept.folder,))
    control = replace(attack, readable=(), kept=kept.folder)

    ran = world.sandbox.run(attack)

    assert ran.output.startswith("good")
    assert content(kept) == b"good"
    assert ".json" not in ran.output
    assert world.sandbox.run(control).exit_status == 0
    assert not (kept.folder / "fetched").exists(), "with the folder open for writing the attack works"


def test_sec_33_what_is_kept_is_ours_whatever_modes_it_was_left_with(world: World) -> None:
    script = """
import os, sys
path = sys.argv[1] + "/fetched"
open(path, "w").close()
os.chmod(path, 0o6777)
os.mkdir(sys.argv[1] + "/open")
os.chmod(sys.argv[1] + "/open", 0o777)
"""
    kept = only(world.installer().install(world.base({"lock": "1"}), [world.step(script=script)]))

    seen = [(kept.folder / name).stat() for name in ("fetched", "open")]
    assert [one.st_mode & 0o7777 for one in seen] == [0o755, 0o755]
    assert {one.st_uid for one in seen} == {os.geteuid()}


# --- the network -----------------------------------------------------------------------------------------------------


def test_sec_32_other_hosts_direct_connections_and_look_ups_do_not_pass(world: World) -> None:
    with serving() as (other, never):
        base = world.base({"lock": "1"})
        by_proxy = world.step(f"http://{other}/x")
        direct = f"""
import socket
host, port = {other!r}.split(":")
socket.create_connection((host, int(port)), 3)
"""
        look_up = "import socket; socket.getaddrinfo(socket.gethostname(), 80)"

        for step in (by_proxy, world.step(script=direct), world.step(script=look_up)):
            with pytest.raises(Parked) as parked:
                world.installer().install(base, [step])
            assert parked.value.cause is ParkCause.ENVIRONMENT

        assert never == []
        assert only(world.installer(hosts=(world.host, other)).install(base, [by_proxy])).note.reached == (other,)
        assert len(never) == 1, "with the host on the list it is reached: the control"


def test_a_host_that_was_asked_for_in_vain_is_named(world: World) -> None:
    with serving() as (other, _), pytest.raises(Parked, match=f"not on the list of hosts: {other}"):
        world.installer().install(world.base({"lock": "1"}), [world.step(f"http://{other}/x")])


def test_without_a_host_nothing_is_installed_and_the_way_out_is_told(world: World) -> None:
    base = world.base({"lock": "1"})
    closed = world.installer(hosts=())

    with pytest.raises(Parked, match=r"no host is named.*\[install\] in the operator's ticketsmith\.toml"):
        closed.install(base, [world.step()])
    left_out = closed.install(base, [world.step(detected=True)])

    assert left_out.kept == ()
    assert "no host is named" in left_out.left_out[0]
    assert asked(world) == 0
    assert not (world.folder / "tree").exists()


def test_only_the_level_that_can_close_the_network_installs(world: World) -> None:
    with pytest.raises(Parked, match="only the sandbox bubblewrap"):
        world.installer(sandbox=Plain()).install(world.base({"lock": "1"}), [world.step()])

    assert asked(world) == 0


def test_no_secret_is_there_while_it_installs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPM_TOKEN", "canary")
    script = "import os, sys; open(sys.argv[1] + '/fetched', 'w').write(' '.join(sorted(os.environ)))"

    kept = only(world.installer().install(world.base({"lock": "1"}), [world.step(script=script)]))

    names = {name for name in content(kept).decode().split() if "proxy" not in name.lower()}
    assert names == {"CI", "HOME", "LANG", "LC_CTYPE", "NO_COLOR", "PATH", "PWD", "TMPDIR"} & names


# --- when it fails ---------------------------------------------------------------------------------------------------


def test_a_step_that_fails_leaves_nothing_and_is_taken_anew(world: World) -> None:
    base = world.base({"lock": "1"})
    fails = world.step(
        script="import sys; open(sys.argv[1] + '/fetched', 'w').write('half'); print('boom'); sys.exit(3)"
    )

    with pytest.raises(Parked, match="exit 3: boom"):
        world.installer().install(base, [fails])
    seen = world.installer().install(base, [replace(fails, detected=True), world.step()])

    assert [kept.note.step for kept in seen.kept] == ["fetch"]
    assert "exit 3: boom" in seen.left_out[0]
    assert sorted(path.suffix for path in (world.folder / "installed").glob("*/*")) == [
        "",
        ".json",
        ".lock",
        ".lock",
        ".lock",
    ]


def test_a_killed_install_is_no_install(world: World) -> None:
    base = world.base({"lock": "1"})
    kept = only(world.installer().install(base, [world.step()]))
    (kept.folder / "fetched").write_bytes(b"half")
    kept.folder.with_name(f"{kept.folder.name}.json").unlink()  # the last thing that is written

    again = only(world.installer().install(base, [world.step()]))

    assert (content(again), again.again) == (b"good", False)


def test_a_stop_ends_it(world: World) -> None:
    step = world.step(script="import time; time.sleep(60)")

    with pytest.raises(Stopped):
        world.installer().install(world.base({"lock": "1"}), [step], stopped=lambda: True)


def test_two_at_once_install_once(world: World) -> None:
    base = world.base({"lock": "1"})
    slow = world.step(script=FETCH + "\nimport time; time.sleep(0.5)")
    found: list[bool] = []

    def work() -> None:
        found.append(only(world.installer().install(base, [slow])).again)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == [False, True]
    assert asked(world) == 1


def test_a_program_that_is_not_here_is_told(world: World) -> None:
    step = world.step(program="surely-not-here", detected=True)

    assert (
        "surely-not-here is not on this machine"
        in world.installer().install(world.base({"lock": "1"}), [step]).left_out[0]
    )


def test_what_nobody_used_for_long_is_taken_away(world: World) -> None:
    old = only(world.installer().install(world.base({"lock": "1"}), [world.step()]))
    note = old.folder.with_name(f"{old.folder.name}.json")
    os.utime(note, (1, 1))
    changed = make(world.folder / "one").folder

    new = Base(repository=make(world.folder / "one"), commit=commit(changed, {"lock": "2"}))
    only(world.installer().install(new, [world.step()]))

    assert not old.folder.exists()
    assert not note.exists()


def test_a_folder_and_one_in_it_are_kept_whichever_is_named_first(world: World) -> None:
    step = world.step(script="import os; os.makedirs('a/b/c'); os.makedirs('a/d')", keeps=("a/b", "a"))

    kept = only(world.installer().install(world.base({"lock": "1"}), [step]))

    assert sorted(str(path.relative_to(kept.lent)) for path in kept.lent.rglob("*")) == ["a", "a/b", "a/b/c", "a/d"]


# --- what foreign code leaves there ----------------------------------------------------------------------------------


TRAPS = {
    "a link in place of what is lent": "os.symlink(outside, kept + '/tree')",
    "a link in place of the folder in the tree": "os.symlink(outside, 'node_modules')",
    "a link above it": "os.symlink(outside, 'web')",
    "a link in place of home": "os.rmdir(kept + '/home'); os.symlink(outside, kept + '/home')",
    "a link to downloads": "os.makedirs(kept + '/home/.cargo'); os.symlink(outside, kept + '/home/.cargo/registry')",
    "a link in place of temporary files": "os.rmdir(kept + '/tmp'); os.symlink(outside, kept + '/tmp')",
    "a file in place of what is lent": "open(kept + '/tree', 'w').close()",
    "a file in place of temporary files": "os.rmdir(kept + '/tmp'); open(kept + '/tmp', 'w').close()",
    "a file in place of downloads": "open(kept + '/home/.npm', 'w').close()",
    "a pipe in place of downloads": "os.mkfifo(kept + '/home/.cache')",
    "a link to itself in place of temporary files": "os.rmdir(kept + '/tmp'); os.symlink('tmp', kept + '/tmp')",
    "a link to itself in place of a cache": "os.mkdir(kept + '/home/go'); os.symlink('pkg', kept + '/home/go/pkg')",
    "a folder that nobody enters": "os.mkdir(kept + '/tree'); os.chmod(kept + '/tree', 0)",
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_no_link_that_was_left_leads_elsewhere(world: World, trap: str) -> None:
    outside = world.folder / "outside"
    (outside / ".npm").mkdir(parents=True)
    (outside / "registry").mkdir()
    (outside / "secret").write_text("canary")
    script = f"import os, sys\nkept, outside = sys.argv[1], {str(outside)!r}\n{trap}"
    step = world.step(script=script, keeps=("node_modules", "web/node_modules"))

    kept = only(world.installer().install(world.base({"lock": "1"}), [step]))

    assert (outside / "secret").read_text() == "canary"
    assert (outside / ".npm").is_dir()
    assert kept.home is None
    assert not kept.lent.is_symlink()
    assert list(kept.lent.iterdir()) == []
    assert outside.stat().st_uid == os.getuid()


def environment(folder: Path, home: Path, python: Path) -> Kept:
    """What a step may have made: an environment of `home`, whose interpreter is a link to `python`."""
    for part in ("bin", "lib/python3.11/site-packages/pytest"):
        (folder / "env" / part).mkdir(parents=True)
    (folder / "env/lib/python3.11/site-packages/pytest/__init__.py").touch()
    (folder / "env/lib/python3.11/os.py").touch()
    (folder / "env/pyvenv.cfg").write_text(f"home = {home}\n")
    (folder / "env/bin/python").symlink_to(python)
    return Kept(folder=folder, note=Note(step="x", reached=(), seconds=0.0, digest="0"))


def test_an_environment_that_leads_to_another_interpreter_is_none(tmp_path: Path) -> None:
    base = Path(sys.executable)
    (tmp_path / "elsewhere/bin").mkdir(parents=True)
    (tmp_path / "elsewhere/lib/python3.11").mkdir(parents=True)
    (tmp_path / "elsewhere/lib/python3.11/os.py").touch()
    (tmp_path / "elsewhere/bin/python").symlink_to("/usr/bin/env")

    ours = environment(tmp_path / "ours", base.resolve().parent, base)
    of_another = environment(tmp_path / "another", base.resolve().parent, tmp_path / "elsewhere/bin/python")
    home_elsewhere = environment(tmp_path / "home", tmp_path / "elsewhere/bin", base)
    linked = environment(tmp_path / "linked", base.resolve().parent, base)
    os.rename(tmp_path / "linked/env/lib", tmp_path / "lib")
    (tmp_path / "linked/env/lib").symlink_to(tmp_path / "lib")

    assert ours.python(base) == tmp_path / "ours/env/bin/python"
    assert of_another.python(base) is None
    assert home_elsewhere.python(base) is None
    assert linked.python(base) is None
    assert Kept(folder=tmp_path / "none", note=ours.note).python(base) is None


def test_an_environment_whose_interpreter_is_a_link_to_itself_is_none(tmp_path: Path) -> None:
    base = Path(sys.executable)
    looped = environment(tmp_path, base.resolve().parent, base)
    (tmp_path / "env/bin/python").unlink()
    (tmp_path / "env/bin/python").symlink_to("python")

    assert looped.python(base) is None


def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, "r")
    place = shelf.begin("0")
    shelf.finish(Note(step="x", reached=(), seconds=0.0, digest="0"))
    note = place.with_name("0.json")

    assert shelf.note("0") is not None
    for text in ("", "{}", "[]", json.dumps({"step": "x", "reached": None, "seconds": 0, "digest": "0"})):
        note.write_text(text)
        assert shelf.note("0") is None


# --- pip, and what checks then stand on ------------------------------------------------------------------------------


def wheel(name: str, files: dict[str, str]) -> tuple[str, bytes]:
    """File name and bytes of a package."""
    about = f"{name}-1.0.dist-info"
    more = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in (files | more).items():
            archive.writestr(path, text)
    return f"{name}-1.0-py3-none-any.whl", data.getvalue()


def index(*wheels: tuple[str, bytes]) -> dict[str, bytes]:
    """A registry of packages, as pip reads one."""
    pages = {}
    for name, data in wheels:
        project = name.split("-")[0]
        digest = hashlib.sha256(data).hexdigest()
        pages[f"/simple/{project}/"] = f'<a href="/files/{name}#sha256={digest}">{name}</a>'.encode()
        pages[f"/files/{name}"] = data
    return pages


def test_requirements_are_installed_and_checks_stand_on_them(tmp_path: Path) -> None:
    sandbox = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    packages = index(wheel("thing", {"thing.py": "value = 7\n"}), wheel("pytest", {"pytest/__init__.py": ""}))
    with serving(packages) as (host, _):
        files = {"requirements.txt": f"--index-url http://{host}/simple/\nthing==1.0\npytest\n", "a.py": ""}
        world = World(folder=tmp_path, sandbox=sandbox, host=host)
        base = world.base(files)
        steps = detect_installs(files, lambda path: files[path].encode())

        installed = world.installer().install(base, steps)

    kept, python = only(installed), installed.python(Path(sys.executable))
    tree = tmp_path / "tree"
    tree.mkdir()
    assert kept.note.step == "pip install of requirements.txt"
    assert python == kept.folder / "env/bin/python"
    command = ("python", "-c", "import thing, sys; sys.exit(thing.value)")
    check = Check(name=CheckId("check"), kind=CheckKind.COMMAND, arguments=command)
    assert Checks(sandbox, python).run(check, tree).exit_status == 7
    assert Checks(sandbox, Path(sys.executable)).run(check, tree).exit_status == 1, "it is nowhere else"
    spoils = replace(check, arguments=("python", "-c", "import thing; open(thing.__file__, 'w').write('value = 8')"))
    assert Checks(sandbox, python).run(spoils, tree).exit_status == 1
    assert Checks(sandbox, python).run(check, tree).exit_status == 7


def test_folders_of_packages_are_lent_to_checks(world: World) -> None:
    script = "import os; os.makedirs('web/node_modules/dep'); open('web/node_modules/dep/index.js', 'w').write('dep')"
    base = world.base({"lock": "1", "web/package.json": "{}"})
    step = world.step(script=script, keeps=("web/node_modules", "node_modules"))

    installed = world.installer().install(base, [step])

    tree = world.folder / "tree"
    (tree / "web").mkdir(parents=True)
    check = Check(name=CheckId("jest"), kind=CheckKind.COMMAND, folder="web", installed=("node_modules",))
    lending = Lending(base.repository.folder, *installed.lent)
    assert lending.has("web/node_modules")
    assert not Lending(base.repository.folder).has("web/node_modules")
    shows = replace(check, arguments=("cat", "node_modules/dep/index.js"))
    report = Checks(world.sandbox, Path(sys.executable)).run(shows, tree, lent=lending.to(shows, tree))
    assert (report.exit_status, report.output) == (0, "dep")


def package(name: str, text: str) -> bytes:
    """A package as npm packs one."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        files = {"package.json": json.dumps({"name": name, "version": "1.0.0"}), "index.js": text}
        for path, content in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))
    return data.getvalue()


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")
def test_packages_of_npm_are_installed_from_their_lock_file(tmp_path: Path) -> None:
    sandbox, packed = usable(Way(level=Level.BUBBLEWRAP)).sandbox(), package("dep", "module.exports = 7")
    with serving({"/dep.tgz": packed}) as (host, _):
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        told = {"version": "1.0.0", "resolved": f"http://{host}/dep.tgz", "integrity": integrity}
        manifest = {"name": "a", "version": "1.0.0", "dependencies": {"dep": "1.0.0"}}
        lock = {**manifest, "lockfileVersion": 3, "packages": {"": manifest, "node_modules/dep": told}}
        files = {"web/package.json": json.dumps(manifest), "web/package-lock.json": json.dumps(lock)}
        world = World(folder=tmp_path, sandbox=sandbox, host=host)

        installed = world.installer().install(
            world.base(files), detect_installs(files, lambda path: files[path].encode())
        )

    assert installed.left_out == ()
    assert only(installed).note.reached == (host,)
    assert (only(installed).lent / "web/node_modules/dep/index.js").read_text() == "module.exports = 7"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on this machine")
def test_cargo_finds_its_toolchain_and_sees_the_whole_tree(tmp_path: Path) -> None:
    sandbox = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "a"\nversion = "1.0.0"\n',
        "src/lib.rs": "",
    }
    world = World(folder=tmp_path, sandbox=sandbox, host="127.0.0.1:9")
    installer = world.installer(toolchains=Toolchains(home=Path.home()))

    installed = installer.install(world.base(files), detect_installs(files, lambda path: files[path].encode()))

    assert installed.left_out == ()
    assert only(installed).note.step == "cargo fetch in ."
