#!/usr/bin/env python3
"""Print the lines of Rust code of each crate: production and tests.

A line of code is neither blank nor all comment. Tests are the folders `tests`, `benches`, `examples` and `fuzz`; the files
`tests.rs`, `*_tests.rs` and `test_*.rs`; and what is compiled under `#[cfg(test)]`, in place or in a file of its own. All else is
production. Files that Git ignores by the name `target`, and hidden folders, do not count.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_FOLDERS = {"tests", "benches", "examples", "fuzz"}
TEST_FILE = re.compile(r"tests\.rs|.*_tests\.rs|test_.*")
UNDER_TEST = re.compile(r"#\[cfg\((?:all\()?test\b")
MODULE_IN_FILE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')


def code_lines(path):
    """Each line of code, and whether it is compiled for tests alone."""
    in_comment, depth, awaits_item, test_depth = False, 0, False, None
    for line in path.read_text(errors="replace").split("\n"):
        line = line.strip()
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
            continue
        if not line or line.startswith("//"):
            continue
        bare = LITERAL.sub("", line)
        opened, closed = bare.count("{"), bare.count("}")
        for_tests = test_depth is not None or awaits_item
        if test_depth is None and UNDER_TEST.search(line):
            awaits_item = for_tests = True
        elif awaits_item and not line.startswith("#["):
            if opened > closed:
                test_depth, awaits_item = depth, False
            elif line.endswith((";", "}")):
                awaits_item = False
        yield line, for_tests
        depth += opened - closed
        if test_depth is not None and depth <= test_depth:
            test_depth = None


def modules_for_tests(sources):
    """The files, or folders, of modules that are declared under `#[cfg(test)]`."""
    found = set()
    for path in sources:
        folder = path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")
        for line, for_tests in code_lines(path):
            module = MODULE_IN_FILE.match(line)
            if for_tests and module:
                found |= {folder / f"{module[1]}.rs", folder / module[1]}
    return found


def main():
    places = {path: path.relative_to(ROOT).parts for path in sorted(ROOT.rglob("*.rs"))}
    sources = {path: parts for path, parts in places.items() if "target" not in parts and not parts[0].startswith(".")}
    modules = modules_for_tests(sources)
    sizes = {}
    for path, parts in sources.items():
        crate = "/".join(parts[: 2 if len(parts) > 2 else 1])
        is_test = TEST_FOLDERS & set(parts[:-1]) or TEST_FILE.fullmatch(path.name) or modules & {path, *path.parents}
        size = sizes.setdefault(crate, [0, 0])
        for _, for_tests in code_lines(path):
            size[bool(is_test or for_tests)] += 1
    print(f"{'crate':20} production   tests")
    rows = sorted(sizes.items(), key=lambda row: -row[1][0])
    for crate, (production, tests) in [*rows, ("all", map(sum, zip(*sizes.values())))]:
        print(f"{crate:20} {production:10} {tests:7}")


main()
