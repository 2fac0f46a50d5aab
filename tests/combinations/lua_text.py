"""Lua as text, and chance as tables of options."""
import re

WORDS = {"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
         "repeat", "return", "then", "true", "until", "while"}


class Raw(str):
    """Text that is Lua already."""


class Call:
    """f { ... }, the table being a dict, a list, or both (list first)."""

    def __init__(self, name, options=None, items=None):
        self.name, self.options, self.items = name, options or {}, items or []

    def table(self):
        """The same as the table that iap.policy and iap.optim make of it."""
        table = {"kind": self.name.split(".")[-1], **{name: plain(value) for name, value in self.options.items()}}
        if self.items:
            table["blocks"] = [plain(item) for item in self.items]
        return table


def plain(value):
    """A value with tables in place of calls."""
    return value.table() if isinstance(value, Call) else value


def quoted(text):
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else "".join(f"\\{b:03}" for b in c.encode()) for c in text) + '"'


def entry(name, value):
    key = name if re.fullmatch(r"[A-Za-z_]\w*", name) and name not in WORDS else f"[{quoted(name)}]"
    return f"{key} = {lua(value)}"


def lua(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Call):
        parts = [lua(item) for item in value.items] + [entry(k, v) for k, v in value.options.items()]
        return f"{value.name} {{ {', '.join(parts)} }}"
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return "{ " + ", ".join(map(lua, value)) + " }"
    if isinstance(value, dict):
        return "{ " + ", ".join(entry(k, v) for k, v in value.items()) + " }"
    raise TypeError(value)


def some(rng, chance, table):
    """Each entry by chance; what is callable is called."""
    return {k: (v() if callable(v) else v) for k, v in table.items() if rng.random() < chance}
