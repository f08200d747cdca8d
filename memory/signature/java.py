"""Stack traces of the Java virtual machine: Java, Kotlin, Scala, Groovy; from servers, Android and crash services."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature.located import tracked
from memory.signature.packages import of_package
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace

_FRAME = re.compile(
    r"\s*at (?:[\w.@-]{0,100}/){0,2}/?(?P<function>[\w.$<>/-]{1,400}(?: [\w ,'=-]{1,150})?)"
    r"\((?P<where>[^()\n]{0,200})\)"
    r"(?:\s*~?\[[^\]\n]{0,200}\])?\s*$"
)
# Crash services print frames without `at`.
_BARE_FRAME = re.compile(
    r"\s*(?P<function>(?:[a-z][\w]{0,60}\.){1,12}[\w$.<>]{1,200}) ?\((?P<where>[\w$]{1,100}\.(?:java|kt|scala"
    r"|groovy):\d{1,7})\)\s*$"
)
_SOURCES = (".java:", ".kt:", ".scala:", ".groovy:")
_WHERE = re.compile(
    r"(?P<file>[\w$ -]{1,100}\.\w{1,10})(?::-?\d{1,7})?$|Native Method$|Unknown Source(?::\d{1,7})?$|<\w{1,20}>$"
)
_HEADER = re.compile(
    r"\s*(?:.{0,120}?\bException in thread \"[^\"\n]{0,200}\" |Fatal Exception: |Caused by: |Wrapped by: |\[ERROR\] )?"
    r"(?P<type>(?:[a-zA-Z_$][\w$]{0,100}\.){1,14}[A-Za-z_$][\w$]{0,150})(?:: ?(?P<message>.*)|\s*)$"
)
_IN_LINE = re.compile(
    r"(?:^|[\s:(])(?P<type>(?:[a-z_][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,150}(?:Exception|Error|Throwable"
    r"|Failure)[\w$]{0,40})(?:: (?P<message>.*)|\s*)$"
)
_MORE = re.compile(r"\s*\.\.\. ?\d{1,6} (?:more|common frames|frames)|\s*\.\.\.\s*$")
_SENTENCES = (".kt", ".groovy", ".scala")  # their tests may be named by a sentence
_CAUSE = "Caused by: "
_SUPPRESSED = "Suppressed: "
_MESSAGE_LINES = 60
_SUFFIXES = ("Exception", "Error", "Throwable", "Failure")
_PROXY = re.compile(
    r"\$\$(?!Lambda)|\$\$Lambda|CGLIB|_\$\$_|GeneratedMethodAccessor|GeneratedConstructorAccessor|\$Proxy\d"
    r"|ByteBuddy|\$MockitoMock\$"
    r"|_javassist_|\$HibernateProxy"
)
_LAMBDA = re.compile(r"^(?:lambda|\$anonfun)\$(?P<name>[\w<>]{1,100}?)\$\d{1,4}(?:\$\w{1,20})?$")
_ANONYMOUS = re.compile(r"(?:\$\d{1,4})+$")
_TEST_CLASS = re.compile(
    r"^(?:Test[A-Z0-9_]\w{0,150}|\w{1,150}(?:Tests?|TestCase|Spec|IT|ITCase|Suite)|Abstract\w{0,100}Test\w{0,100})$"
)
_ASSERTS = re.compile(
    r"^(?:More|Fluent|Json)?Assert(?:s|ions|ion|ive\w{1,40}|ThatBuilder|ionUtils)?$|^\w{0,40}Asserts$"
)
# They refuse an argument for somebody else, or make an exception: the caller is the culprit.
_CHECKERS = re.compile(
    r"^(?:Preconditions|Validate|Objects|Args|Checks?|Verify|Precondition|Require|Intrinsics|Contract\w{0,20})$"
)
_THROWABLE = re.compile(r"^\w{1,150}(?:Exception|Error)(?:s|Utils|Factory|Handler)?$")
_TEST_PACKAGES = ("test", "tests", "testing", "junit", "testutil", "testutils")


@dataclass
class _Reading:
    """One exception while it is read."""

    type: str
    message: str
    first: int
    last: int
    frames: list[Frame] = field(default_factory=list)


def parse(lines: Sequence[str]) -> list[Trace]:
    """Chains of exceptions; what is suppressed is not read."""
    traces: list[Trace] = []
    chain: list[_Reading] = []
    suppressed = False
    for at, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith(_SUPPRESSED):
            suppressed = True
        elif bare.startswith(_CAUSE) and chain:
            chain.append(_header(lines, at) or _Reading(type="", message="", first=at, last=at))
            suppressed = False
        elif (frame := _frame(line)) is not None:
            if suppressed:
                continue
            if not chain or at - chain[-1].last > _gap(chain[-1]):
                traces += _ended(chain)
                chain = [_above(lines, at)]
            chain[-1].frames.append(frame)
            chain[-1].last = at
        elif "..." in line and _MORE.match(line):
            if chain:
                chain[-1].last = at
            suppressed = False
    return traces + _ended(chain)


def _frame(line: str) -> Frame | None:
    if "(" not in line:
        return None
    found = _FRAME.match(line) if line.lstrip().startswith("at ") else None
    if found is None and any(name in line for name in _SOURCES):
        found = _BARE_FRAME.match(line)
    if not found or "." not in found["function"]:
        return None
    where = _WHERE.match(found["where"])
    if where and " " in found["function"] and not (where["file"] or "").endswith(_SENTENCES):
        return None
    return Frame(file=where["file"] or "", function=found["function"].rsplit("/", 1)[-1]) if where else None


def _gap(read: _Reading) -> int:
    # one foreign line between frames is noise of a log; a header may carry a message of many lines
    return 2 if read.frames else _MESSAGE_LINES + 1


def _ended(chain: Sequence[_Reading]) -> list[Trace]:
    told = [read for read in chain if read.frames or read.type]
    if not any(read.frames for read in told):
        return []
    return [
        Trace(
            language="java",
            chain=tuple(Thrown(type=read.type, message=read.message, frames=tuple(read.frames)) for read in told),
            first=told[0].first,
            last=told[-1].last,
        )
    ]


def _above(lines: Sequence[str], at: int) -> _Reading:
    """The header of the frame at line `at`: the nearest line above that names an exception."""
    for up in range(at - 1, max(-1, at - 1 - _MESSAGE_LINES), -1):
        if _frame(lines[up]):
            break
        found = _header(lines, up)
        if found and (found.type.endswith(_SUFFIXES) or up == at - 1):
            if up < at - 1 and not found.message:
                found.message = lines[up + 1].strip()
            return found
    return _Reading(type="", message="", first=at, last=at)


def _header(lines: Sequence[str], at: int) -> _Reading | None:
    line = lines[at]
    found = _HEADER.match(line) or _IN_LINE.search(line)
    if not found:
        return None
    message = (found["message"] or "").strip()
    return _Reading(type=found["type"], message="" if message == "null" else message, first=at, last=at)


def place(frame: Frame, repo: RepoView) -> Place:
    """Class and method of a frame, as they are compared."""
    owner, _, method = frame.function.rpartition(".")
    package, _, class_ = owner.rpartition(".")
    outer = class_.split("$", 1)[0]
    if method.startswith("access$"):
        return Place(key="", origin=Origin.RUNTIME)  # made by the compiler
    if method.startswith("delayedEndpoint$"):
        method = "<init>"  # the body of a Scala object
    inside = _LAMBDA.match(method)
    name = inside["name"] if inside else _ANONYMOUS.sub("", method.split("$default", 1)[0])
    home = _ANONYMOUS.sub("", _kotlin(class_)).rstrip("$")
    return Place(
        key=f"{home}.{name}",
        origin=_origin(frame, owner, package, outer, repo),
        home=outer,
        area=outer,
    )


def _kotlin(class_: str) -> str:
    # BuildersKt__Builders_commonKt is the file BuildersKt
    return class_.split("__", 1)[0] if class_.endswith("Kt") else class_


def _origin(frame: Frame, owner: str, package: str, outer: str, repo: RepoView) -> Origin:
    if _PROXY.search(frame.function):
        return Origin.RUNTIME
    own = any(owner.startswith(f"{name}.") for name in repo.own_packages if "." in name)
    known = frame.file and tracked(f"{package.replace('.', '/')}/{frame.file}", repo)
    if not own and not known and of_package("java_runtime", f"{owner}."):
        return Origin.RUNTIME
    if not own and not known and of_package("java", f"{owner}."):
        return Origin.LIBRARY
    if _TEST_CLASS.match(outer) or _ASSERTS.match(outer) or package.rsplit(".", 1)[-1] in _TEST_PACKAGES:
        return Origin.TEST
    if _CHECKERS.match(outer) or _THROWABLE.match(outer):
        return Origin.LIBRARY
    return Origin.APP


FAMILY = Family(language="java", parse=parse, place=place, hints=("at ", ".java:", ".kt:", ".scala:"))
