"""Data by name: the options of a data set, its own and those that every data set has, read from text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from unbraid import catalog, datafiles
from unbraid.data import Data, named, spelled
from unbraid.errors import UserError, unknown
from unbraid.groups import GROUPING, grouped, open_groups
from unbraid.spelling import apart

AUGMENTED = ("augmentation", "augmented")


def open_name(text: str) -> Data:
    """The data that a text names: a data set, a path, or several of either as groups."""
    if not text.strip():
        raise UserError("data is empty: give a name, a file or a folder")
    if several := apart(text):
        return open_groups(several)
    name, _, options = text.partition(":")
    if name in catalog.names("data") or name.endswith(".py"):
        return _open_named(name, options)
    path, _, options = text.rpartition(":")
    if options.partition("=")[0] in _shared() and datafiles.is_path(path):
        given = _complete(_given(path, options, _shared()))
        return _with_shared(datafiles.open_path(path, given.get("group", "")), given)
    if datafiles.is_path(text):
        return datafiles.open_path(text)
    raise unknown("data set", name, catalog.names("data"))


def _shared() -> dict[str, catalog.Option]:
    """The options of every data set."""
    functions = (
        ("dependence", "dependent"),
        ("groups", "grouped"),
        ("counts", "normalised"),
        ("features", "most_varied"),
        AUGMENTED,
    )
    return {o.name: o for function in functions for o in catalog.function_options(*function)[1:]}


def _given(name: str, text: str, known: Mapping[str, catalog.Option]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in known:
            raise unknown(f"option of {name}", key, known)
        if key in given:
            raise UserError(f"{name}: {key} is given twice, {spelled(given[key])} and {value}: give it once")
        if not (value if key in GROUPING else equals):
            example = known[key].default if key not in GROUPING else "COLUMN" if key == "group" else "VALUE"
            raise UserError(f"{name}:{key}: give the option a value, as in {name}:{key}={example}")
        given[key] = _typed(name, known[key], value if known[key].annotation == "str" else _literal(value))
    return given


def _complete(shared: dict[str, Any]) -> dict[str, Any]:
    """Refuse a background of nothing before anything is read."""
    others = [key for key in GROUPING if key in shared]
    if others and "group" not in shared:
        said = f"{others[0]}={shared[others[0]]}"
        raise UserError(f"{said}: say which column, as in group=COLUMN,{said}")
    return shared


def _with_shared(data: Data, options: Mapping[str, Any]) -> Data:
    if not options:
        return data
    if "counts" in options:
        from unbraid.counts import normalised

        data = normalised(data, options["counts"])
    if "columns" in options:
        from unbraid.features import most_varied

        data = most_varied(data, options["columns"])
    moving = {o.name: options[o.name] for o in catalog.function_options(*AUGMENTED) if o.name in options}
    options = {key: value for key, value in options.items() if key not in ("counts", "columns", *moving)}
    splitting = {key: value for key, value in options.items() if key in GROUPING}
    if splitting and (others := [key for key in options if key not in GROUPING]):
        raise UserError(f"{data.name}: {others[0]} cannot be combined with {next(iter(splitting))}: give one of them")
    if options and not splitting:
        from unbraid.dependence import dependent

        data = dependent(data, **options)
    if moving:
        from unbraid.augmentation import augmented

        data = augmented(data, **moving)
    return grouped(data, **splitting) if splitting else data


def _open_named(name: str, text: str) -> Data:
    member = catalog.load("data", name)
    own = {option.name: option for option in catalog.entry("data", name).options}
    shared = {key: option for key, option in _shared().items() if key not in own}
    given = _given(name, text, {**own, **shared})
    told = _complete({key: value for key, value in given.items() if key in shared})
    missing = [key for key, option in own.items() if option.default is None and key not in given]
    if missing:
        raise UserError(f"{name} needs the option {missing[0]}, as in {name}:{missing[0]}=...")
    data = _open_plain(name, member, {key: value for key, value in given.items() if key in own})
    return _with_shared(data, told)


def _open_plain(name: str, member: Callable[..., Any], given: Mapping[str, Any]) -> Data:
    data = member(**given)
    if not isinstance(data, Data):
        raise UserError(f"{name} must return unbraid.data.Data, not {type(data).__name__}")
    if name.endswith(".py"):
        source = hashlib.blake2b(catalog.find("data", name).read_bytes(), digest_size=8).hexdigest()
        return replace(data, name=named(name, given), fingerprint=data.fingerprint + source)
    return data


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _typed(name: str, option: catalog.Option, value: Any) -> Any:
    right = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word"}
    wanted = option.annotation
    if wanted == "float" and type(value) is int:
        return float(value)
    if wanted == "str":
        return value.strip("'\"")  # a number or none may be a word, such as the name of a group
    if wanted in right and type(value).__name__ != wanted:
        raise UserError(f"{name}:{option.name}={spelled(value)}: must be {right[wanted]}")
    return value
