"""A folder is a register: what it holds is found by reading it, without importing torch.

The member that a file provides is the class or function whose name is the file's name, underscores and case
aside (`beta_vae.py` → `BetaVAE`, `mig.py` → `mig`). A user's own file works wherever a name does.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import math
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from unbraid.errors import UserError, unknown

ROOMS = {
    "methods": "method",
    "data": "data set",
    "networks": "network",
    "metrics": "metric",
    "geometry": "geometry measure",
    "views": "view",
}
FILLED_IN = ("net", "domains")  # keywords of methods that are no options: they follow from the networks and the data


@dataclass(frozen=True)
class Option:
    """One keyword of a member: its default as written in the source, None where it has none."""

    name: str
    default: str | None
    annotation: str
    text: str


@dataclass(frozen=True)
class Entry:
    """What the source says of one member, read as text."""

    name: str
    path: Path
    summary: str
    member: str
    options: tuple[Option, ...]


def names(room: str) -> list[str]:
    """The members of a room, in alphabetical order."""
    folder = Path(__file__).parent / room
    return sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_"))


def find(room: str, name: str) -> Path:
    """The file behind a name or behind a path to a user's own `.py` file."""
    if name.endswith(".py"):
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise UserError(f"no such file: {name}")
        return path
    if name not in names(room):
        raise unknown(ROOMS.get(room, room), name, names(room))
    return Path(__file__).parent / room / f"{name}.py"


@cache
def entry(room: str, name: str) -> Entry:
    """Read a member's summary and options from its source."""
    path = find(room, name)
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError as error:
        raise UserError(f"{path} is not valid Python: line {error.lineno}: {error.msg}") from error
    node = _member(tree, path)
    function: ast.AST | None = node
    if isinstance(node, ast.ClassDef):
        function = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
    text = ast.get_docstring(node) or ""
    summary = (ast.get_docstring(tree) or text).split("\n")[0].strip()
    if isinstance(function, ast.FunctionDef):
        options = _options(function, text)
    else:
        options = next((entry(room, parent).options for parent in _parents(tree, node, room)), ())
    return Entry(path.stem, path, summary, node.name, options)


def method_options(name: str) -> list[Option]:
    """The options of a method, without what is filled in."""
    return [option for option in entry("methods", name).options if option.name not in FILLED_IN]


def constant(room: str, name: str, what: str, default: Any) -> Any:
    """A member's own constant, read from its source."""
    for node in ast.parse(find(room, name).read_text()).body:
        if isinstance(node, ast.Assign) and [t.id for t in node.targets if isinstance(t, ast.Name)] == [what]:
            return ast.literal_eval(node.value)
    return default


def _parents(tree: ast.Module, node: ast.AST, room: str) -> list[str]:
    """The members of the room that a class without a constructor of its own inherits one from."""
    bases = {b.id for b in node.bases if isinstance(b, ast.Name)} if isinstance(node, ast.ClassDef) else set()
    imports = [
        n for n in tree.body if isinstance(n, ast.ImportFrom) and (n.module or "").startswith(f"unbraid.{room}.")
    ]
    return [(n.module or "").rpartition(".")[2] for n in imports if bases & {a.asname or a.name for a in n.names}]


def _key(name: str) -> str:
    return name.replace("_", "").lower()


def _member(tree: ast.Module, path: Path) -> ast.ClassDef | ast.FunctionDef:
    defined = [n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and not n.name.startswith("_")]
    named = [n for n in defined if _key(n.name) == _key(path.stem)]
    if named:
        return named[0]
    classes = [n for n in defined if isinstance(n, ast.ClassDef)] or defined
    if len(classes) != 1:
        raise UserError(
            f"{path}: name the class or function after the file ({path.stem}), found {[n.name for n in defined]}"
        )
    return classes[0]


def _options(function: ast.FunctionDef, text: str) -> tuple[Option, ...]:
    words = {}
    for line in text.split("\n"):
        head, colon, tail = line.strip().partition(": ")
        if colon and head.isidentifier():
            words[head] = tail
    arguments = function.args.args + function.args.kwonlyargs
    positional: list[ast.expr | None] = [None] * (len(function.args.args) - len(function.args.defaults))
    defaults = [*positional, *function.args.defaults, *function.args.kw_defaults]
    return tuple(
        Option(
            argument.arg,
            None if default is None else ast.unparse(default),
            ast.unparse(argument.annotation) if argument.annotation else "",
            words.get(argument.arg, ""),
        )
        for argument, default in zip(arguments, defaults, strict=True)
        if argument.arg != "self"
    )


def load(room: str, name: str) -> Any:
    """Import a member: the class or function itself."""
    found = entry(room, name)
    if name.endswith(".py"):
        return getattr(import_file(found.path), found.member)
    return getattr(importlib.import_module(f"unbraid.{room}.{name}"), found.member)


def import_file(path: Path) -> ModuleType:
    """Import a user's file under a name of its own, once per content."""
    digest = hashlib.blake2b(str(path).encode() + path.read_bytes(), digest_size=6).hexdigest()
    name = f"unbraid_user_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UserError(f"{path} does not import: {type(error).__name__}: {error}") from error
    return module


def function_options(module: str, function: str) -> tuple[Option, ...]:
    """The options of one of the package's own functions, read from its source."""
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text())
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    return _options(node, ast.get_docstring(node) or "")


def is_default(option: Option, value: Any) -> bool:
    """Whether a value is what the source gives an option that is not mentioned."""
    if option.default is None:
        return False
    try:
        return bool(ast.literal_eval(option.default) == value)
    except ValueError:
        return False


def checked(option: Option, value: Any) -> Any:
    """A value of an option of training, refused if it is not what the option's annotation says."""
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word"}
    kinds = option.annotation.split(" | ")
    right = [words[kind] for kind in kinds if kind in words]
    given = type(value).__name__
    fits = given in kinds or (given, "float") == ("int", kinds[0]) or (value is None and "None" in kinds)
    if right and "Any" not in kinds and not fits:
        raise UserError(f"{option.name} must be {' or '.join(right)}, not {value!r}")
    if "float" in kinds and value is not None and not (math.isfinite(value) and value >= 0):
        raise UserError(f"{option.name} must be a number of at least 0, not {value!r}")
    return value


def given(option: Option, value: Any) -> Any:
    """An option's value as it was said in a file or on the command line: numbers are read where words are not wanted."""
    wordy = {"str", "Any"} & set(option.annotation.split(" | "))
    return checked(option, value_of(value) if isinstance(value, str) and not wordy else value)


def refuse_others(option: str, method: str) -> None:
    """Say whose option it is that this method does not have, if it is another's."""
    owners = [name for name in names("methods") if any(o.name == option for o in method_options(name))]
    if owners:
        raise UserError(f"{method} has no option {option}: {', '.join(owners)} {'have' if owners[1:] else 'has'} it")


def parse(room: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split `name:option=value,option=value`; values are read as YAML scalars, unknown options are answered."""
    name, _, rest = text.partition(":")
    known = [option.name for option in entry(room, name).options]
    options = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UserError(f"{text!r}: write options as name:option=value,option=value; {part!r} has no '='")
        if key not in known:
            raise unknown(f"option of {name}", key, known)
        options[key] = value_of(value)
    return name, options


def value_of(text: str) -> Any:
    """A number, true or false, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
