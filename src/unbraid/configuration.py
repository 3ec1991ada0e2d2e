"""What determines a run, and the method that follows from it: options checked and resolved, users' own files and objects told apart."""

from __future__ import annotations

import copy
import hashlib
import inspect
import math
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

import torch

from unbraid import catalog, networks
from unbraid.data import Data, drawn_fingerprint, is_named
from unbraid.errors import UserError, unknown
from unbraid.methods import Method
from unbraid.views import needs_domains

MOST_LATENTS = 100_000


def resolve(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """Every option of a method: as given, or its default; unknown names are answered by the nearest."""
    signature = inspect.signature(catalog.load("methods", method).__init__)
    known = {n: p.default for n, p in signature.parameters.items() if n not in ("self", *catalog.FILLED_IN)}
    for name in options:
        if name not in known:
            raise unknown(f"option of {method}", name, [*known, *training_options()])
    for name, value in options.items():
        default = known[name]
        if isinstance(value, str) and "str" in str(signature.parameters[name].annotation).split(" | "):
            continue  # a number or a word, such as beta: the method knows which words
        number = isinstance(default, int | float) and not isinstance(default, bool)
        if number and (isinstance(value, bool) or not isinstance(value, Real)):
            raise UserError(f"{name} must be a number, not {value!r}")
        if number and not math.isfinite(value):
            raise UserError(f"{name} must be a finite number, not {value!r}")
        if number and default >= 0 and value < 0:
            raise UserError(f"{name} must not be negative, as {value!r} is")
        if isinstance(default, int) and not isinstance(default, bool) and value != int(value):
            raise UserError(f"{name} must be a whole number, not {value!r}")
    for name in ("latents", "common", "salient"):
        size = options.get(name, 1)
        if isinstance(size, Real) and not 1 <= float(size) <= MOST_LATENTS:
            raise UserError(f"{name} must be from 1 to {MOST_LATENTS}, not {size!r}")
    resolved = {**{n: d for n, d in known.items() if d is not inspect.Parameter.empty}, **options}
    return {n: _plain(v, known[n]) for n, v in resolved.items()}


def _plain(value: Any, default: Any) -> Any:
    """A number as YAML writes it, of the default's own type."""
    if isinstance(default, bool) or not isinstance(value, Real) or isinstance(value, bool):
        return value
    number = float(value)
    return number if isinstance(default, float) else int(number) if isinstance(default, int) else value


def of_data(data: Data) -> dict[str, Any]:
    """What the data decide of a method; groups only where there are any, so that they are no news to other runs."""
    groups = {"groups": list(data.groups)} if data.groups else {}
    return {"shape": list(data.shape), "pixels": data.pixels, **groups}


def training_options() -> list[str]:
    """The keywords of `unbraid.train` that belong to every method."""
    options = catalog.function_options("training", "train")
    return [option.name for option in options if option.name not in ("method", "data", "options")]


def build(
    config: dict[str, Any],
    folder: Path | None = None,
    *,
    method: Any = None,
    net: Any = None,
    fresh: bool = False,
) -> Method:
    """The method of a run, initialised from its seed.

    Arguments:
        config: the run's settings.
        folder: the run folder, where a user's own files were copied to.
        method: the object, if the method was given as one.
        net: the networks, if they were given as objects.
        fresh: draw new weights for objects too, because several seeds start from the same ones.
    """
    if isinstance(method, Method):
        if isinstance(net, str) and net != "auto":
            raise UserError(f"net={net!r}: a method object has its networks already")
        made = copy.deepcopy(method)
        return reset(made, config["seed"]) if fresh else made
    name, net = config["method"], net if net not in (None, "auto") else config["net"]
    if folder is not None:
        name, net = copied(folder, "method", name), copied(folder, "net", net)
        if isinstance(net, str) and net.startswith("own-"):
            raise UserError(
                f"{folder} was trained with networks given as objects: load_run(path, net=(encoder, decoder))"
            )
        if not name.endswith(".py") and name not in catalog.names("methods"):
            raise UserError(f"{folder} was trained with a method given as an object: load_run(path, method=…)")
    opened = networks.open_net(net, tuple(config["shape"]), config["pixels"])
    kind = catalog.load("methods", name)
    if not (isinstance(kind, type) and issubclass(kind, Method)):
        raise UserError(
            f"{name}: {getattr(kind, '__name__', kind)} must be a class that extends unbraid.methods.Method"
        )
    options = dict(config["options"])
    if "domains" in inspect.signature(kind).parameters:
        if not config.get("groups"):
            raise needs_domains(config["method"])
        options["domains"] = tuple(config["groups"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config["seed"])
        made = _made(name, lambda: kind(opened, **options))
    return reset(made, config["seed"]) if fresh and isinstance(net, tuple | list) else made


def _made(name: str, make: Callable[[], Any]) -> Any:
    """Build a method; what goes wrong in a user's own file is theirs to mend and named."""
    try:
        return make()
    except UserError:
        raise
    except Exception as error:
        if not name.endswith(".py"):
            raise
        raise UserError(f"{name} cannot be built: {type(error).__name__}: {error}") from error


def reset(method: Method, seed: int) -> Method:
    """Fresh weights for a method that was given as an object."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for module in method.modules():
            if callable(again := getattr(module, "reset_parameters", None)):
                again()
    return method


def source(method: Any, data: Any, net: Any, opened: Data) -> str:
    """What tells apart runs that look the same by name: the samples, and a user's own files and objects."""
    told = opened.fingerprint + "".join(p.read_text() for p in own_files(method, net))
    if isinstance(data, Data) and not opened.fingerprint:
        told += drawn_fingerprint(opened)
    if isinstance(method, Method):
        told += networks.fingerprint(method) + _settings(method)
    digest = hashlib.blake2b(told.encode(), digest_size=6).hexdigest() if told else ""
    if not is_named(data) or isinstance(method, Method):
        return f"object-{digest}" if digest else "object"
    return digest or "name"


def _settings(method: Method) -> str:
    """What a method object is beside its networks: its class as written, and its plain attributes."""
    kinds = (bool, int, float, str, tuple, type(None))
    plain = {k: v for k, v in vars(method).items() if not k.startswith("_") and isinstance(v, kinds)}
    return networks.written(type(method)) + repr(sorted(plain.items()))


def own_files(*given: Any) -> list[Path]:
    """Those of a run's method and networks that are a user's own `.py` files."""
    names = [x.partition(":")[0] for x in given if isinstance(x, str)]
    return [Path(name) for name in names if name.endswith(".py") and Path(name).is_file()]


def copied(folder: Path, part: str, name: Any) -> Any:
    """A user's `.py` file is kept inside the run folder, the method's and the networks' apart."""
    if not isinstance(name, str):
        return name
    file, colon, options = name.partition(":")
    return f"{folder / part / Path(file).name}{colon}{options}" if file.endswith(".py") else name
