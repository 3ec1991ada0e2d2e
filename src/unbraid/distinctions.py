"""What tells configurations apart: of their methods' options no more than a reader needs. No torch: reports and studies say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid import catalog
from unbraid.errors import UserError


def telling_options(configs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each configuration the options that differ among those of its method, and those that are not at their default.

    An option that all configurations have alike tells nothing and is left out.

    Arguments:
        configs: each with a `method` and its `options`.
    """
    found = []
    for config in configs:
        own = config.get("options") or {}
        same = [other for other in configs if other.get("method") == config.get("method")]
        found.append(
            {
                name: value
                for name, value in own.items()
                if _differ(name, same) or (_differ(name, configs) and not _is_default(config, name, value))
            }
        )
    return found


def _differ(name: str, configs: Sequence[Mapping[str, Any]]) -> bool:
    return len({str((config.get("options") or {}).get(name)) for config in configs}) > 1


def _is_default(config: Mapping[str, Any], name: str, value: Any) -> bool:
    """Not so where the method cannot be read, as a user's file that has moved."""
    try:
        options = catalog.method_options(str(config.get("method")))
    except UserError:
        return False
    return any(option.name == name and catalog.is_default(option, value) for option in options)
