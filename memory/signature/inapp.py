"""Whose code a file is when nothing is known of the repository: the program's, its tests' or a library's."""

from __future__ import annotations

import re

from memory.signature.shapes import Origin
from memory.signature.words import word_set

_LIBRARY_FOLDER = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|bower_components|\.pub-cache|Pods|Carthage|\.cargo/"
    r"(?:registry|git)"
    r"|go/pkg/mod|gems|vendor|\.yarn|\.pnpm|\.m2|\.gradle|\.nuget|pkgs/mod|jspm_packages)/"
)
_LIBRARY_PATH = re.compile(
    r"(?i:(?:^|/)lib/ruby/|(?:^|/)(?:lib(?:64|32)?/)?(?:python|pypy)\d(?:\.\d{1,2})?t?/|/python\d{2,3}(?:-32)?/lib/|/(?:ana"
    r"|mini)conda\d?/lib/|/lib-python/|/python\.framework/"
    r"|^<frozen |^frozen |\.zip/)"
    r"|^node:|^internal/|^<internal:|^\[internal|^/rustc/|/rustlib/|^/usr/include/|^/usr/lib/|^/lib(?:64)?/"
    r"|/usr/local/go[\d.]*/"
    r"|/go[\d.]*/src/(?:runtime|testing|net|reflect|sync|os|io|fmt|encoding|go|database|syscall)/|/sdk/go[\d.]+/"
    r"|/opt/hostedtoolcache/go/"
    r"|^(?:chrome|moz|safari-web)-extension:|\[native code\]|webpack/(?:bootstrap|runtime)"
    r"|react-dom[.\w-]{0,40}\.js|(?:^|/)(?:react|vue|jquery|angular|zone|preact|svelte)(?:\.runtime|\.global|\.common)?"
    r"(?:[.-](?:production|development|prod|dev|esm|min|umd|cjs|slim|\d[\d.]{0,12}))*\.m?js|compiler-rt"
    r"|sanitizer_common"
    r"|\.so(?:\.\d{1,4})*$|\.dylib$|(?i:\.dll$)"
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]{0,200}|tests?|conftest)\.py$|(?:^|/)[^/]{0,200}(?:_test|_tests|_spec|[.-]test"
    r"|[.-]spec)\.\w{1,5}$"
    r"|(?:^|/)\w{0,200}(?:Tests?|TestCase|Spec|IT)\.(?:java|kt|scala|cs|php|swift|groovy)$"
)


def in_library(path: str) -> bool:
    """Whether a path (with `/`) belongs to something installed."""
    return bool(_LIBRARY_FOLDER.search(path) or _LIBRARY_PATH.search(path))


def installed(path: str) -> str | None:
    """The part of a path below the folder of packages that it goes through; None when it goes through none."""
    ends = [found.end() for found in _LIBRARY_FOLDER.finditer(path)]
    return path[ends[-1] :] if ends else None


def inside_library(path: str) -> str:
    """The part of a path below the folder that things are installed in."""
    ends = [found.end() for pattern in (_LIBRARY_PATH, _LIBRARY_FOLDER) for found in pattern.finditer(path)]
    return path[max(ends, default=0) :]


def in_tests(path: str) -> bool:
    """Whether a path (with `/`) is a test's or a test helper's."""
    return bool(_TEST_FILE.search(path)) or not word_set("test_folders").isdisjoint(path.lower().split("/")[:-1])


def origin_of(path: str) -> Origin:
    """Whose file it is, without knowledge of the repository."""
    if in_library(path):
        return Origin.LIBRARY
    return Origin.TEST if in_tests(path) else Origin.APP
