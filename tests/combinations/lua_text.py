"""Lua as text, and chance as tables of options."""
import json


class Raw(str):
    """Text that is Lua already."""


class Call:
    """f { ... }, the table being a dict, a list, or both (list first)."""

    def __init__(self, name, options=None, items=None):
        self.name, self.options, self.items = name, options or {}, items or []


def lua(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Call):
        parts = [lua(item) for item in value.items] + [f"{k} = {lua(v)}" for k, v in value.options.items()]
        return f"{value.name} {{ {', '.join(parts)} }}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "{ " + ", ".join(map(lua, value)) + " }"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {lua(v)}" for k, v in value.items()) + " }"
    raise TypeError(value)


def some(rng, chance, table):
    """Each entry by chance; what is callable is called."""
    return {k: (v() if callable(v) else v) for k, v in table.items() if rng.random() < chance}
