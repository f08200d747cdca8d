"""Checks of other languages and services are configured strictly."""

from __future__ import annotations

import pytest

from bot.errors import UnknownSetting, WrongSetting
from bot.repository_config import read_repository_config
from memory.types import CheckId
from stages.report import Check, CheckKind, Service

WHOLE = b"""
[services.db]
command = ["bin/db", "--port", "5432"]
ready = "tcp 127.0.0.1:5432"
folder = "infra"
timeout_seconds = 20

[services.mail]
command = ["bin/mail"]

[checks.web]
command = ["npx", "jest", "--json", "--outputFile=out.json"]
jest = "out.json"
folder = "web"
installed = ["node_modules/"]
services = []

[checks.jvm]
command = ["mvn", "-o", "test"]
junit = "**/target/surefire-reports/*.xml"
services = ["db"]
[checks.jvm.environment]
TZ = "UTC"

[checks.go]
command = ["go", "test", "-json", "./..."]
output = "go"

[checks.old]
unittest = ["tests"]
services = []
"""
DB = Service(name="db", arguments=("bin/db", "--port", "5432"), folder="infra", port=5432, timeout_seconds=20.0)
MAIL = Service(name="mail", arguments=("bin/mail",))


def test_every_kind_of_check_and_service_is_read() -> None:
    assert read_repository_config(WHOLE).checks == (
        Check(
            name=CheckId("web"),
            kind=CheckKind.JEST,
            arguments=("npx", "jest", "--json", "--outputFile=out.json"),
            results="out.json",
            folder="web",
            installed=("node_modules",),
        ),
        Check(
            name=CheckId("jvm"),
            kind=CheckKind.JUNIT,
            arguments=("mvn", "-o", "test"),
            results="**/target/surefire-reports/*.xml",
            environment=(("TZ", "UTC"),),
            services=(DB,),
        ),
        Check(
            name=CheckId("go"),
            kind=CheckKind.GO,
            arguments=("go", "test", "-json", "./..."),
            services=(DB, MAIL),
        ),
        Check(name=CheckId("old"), kind=CheckKind.PYTEST, arguments=("-o", "python_files=test*.py", "tests")),
    )


def test_services_without_any_check_are_kept_for_those_that_are_seen() -> None:
    config = read_repository_config(WHOLE.split(b"[checks.web]")[0])

    assert (config.checks, config.services) == ((), (DB, MAIL))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[checks.u]\npytest = []\njunit = 'a.xml'", "checks.u.pytest must be a command, where results are named"),
        ("[checks.u]\ncommand = ['x']\njunit = '../a.xml'", "checks.u.junit must be a pattern of files inside"),
        ("[checks.u]\ncommand = ['x']\njunit = '/a.xml'", "checks.u.junit must be a pattern of files inside"),
        ("[checks.u]\ncommand = ['x']\njunit = ''", "checks.u.junit must be a pattern of files inside"),
        ("[checks.u]\ncommand = ['x']\njunit = 'a'\njest = 'b'", "must be the only place of results"),
        ("[checks.u]\ncommand = ['x']\njunit = 'a'\noutput = 'go'", "must be the only place of results"),
        ("[checks.u]\ncommand = ['x']\noutput = 'tap'", "checks.u.output must be one of go, cargo"),
        ("[checks.u]\nunittest = []\npytest = []", "in its place, not both"),
        ("[checks.u]\ncommand = ['x']\ninstalled = ['..']", "checks.u.installed must be a list of folders inside"),
        ("[checks.u]\ncommand = ['x']\ninstalled = ['.']", "checks.u.installed must be a list of folders inside"),
        ("[checks.u]\ncommand = ['x']\nservices = ['db']", "checks.u.services must be names of [services.NAME]"),
        ("[checks.u]\ncommand = ['x']\nenvironment = {LD_PRELOAD = 'x'}", "checks.u.environment must be names"),
        ("[checks.u]\ncommand = ['x']\nenvironment = {'a b' = 'x'}", "checks.u.environment must be names"),
        ("[checks.u]\ncommand = ['x']\nenvironment = {A = 3}", "checks.u.environment.A must be text in quotes"),
        ("[services.db]\nready = 'tcp 127.0.0.1:1'", "services.db.command must be a program and its arguments"),
        ("[services.db]\ncommand = ['x']\nready = 'tcp 10.0.0.1:80'", 'services.db.ready must be "tcp 127.0.0.1:PORT"'),
        ("[services.db]\ncommand = ['x']\nready = 'tcp localhost:0'", "services.db.ready must be"),
        ("[services.db]\ncommand = ['x']\nready = 'tcp localhost:70000'", "services.db.ready must be"),
        ("[services.db]\ncommand = ['x']\nport = 3", "Unknown setting services.db.port"),
        ("[services.'a b']\ncommand = ['x']", "a name in services must be small letters"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises((UnknownSetting, WrongSetting)) as error:
        read_repository_config(text.encode())

    assert told in str(error.value)
    assert "\n" not in str(error.value)
