# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations as dicts, text or files."""

import numbers
import os

from ._library import Handle, Owner, call


def to_text(config):
    """A dict as the text of a configuration: {"tick_s": 0.01, "dtm": {"policy": "dvfs"}}."""
    return "".join(f"{_key(k)} = {_value(v, k)};\n" for k, v in config.items())


def _key(key):
    if not (isinstance(key, str) and key and all(c.isalnum() and c.isascii() or c in "_-*" for c in key)):
        raise ValueError(f"{key!r} is no key")
    return key


def _scalar(value):
    return isinstance(value, (bool, numbers.Number, str)) or hasattr(value, "item") and value.ndim == 0


def _value(value, key):
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return f"{int(value)}L"
    if isinstance(value, numbers.Real):
        value = float(value)
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{key} = {value}: expected a finite number")
        text = repr(value)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if "\0" in text:
            raise ValueError(f"{key} = {text!r}: a text with a NUL byte")
        return '"' + "".join(f"\\x{ord(c):02x}" if c < " " else "\\" + c if c in '"\\' else c for c in text) + '"'
    if isinstance(value, dict):
        return "{ " + to_text(value).replace("\n", " ") + "}"
    if isinstance(value, (list, tuple)):
        items = ", ".join(_value(v, key) for v in value)
        same = len({type(v) for v in value}) == 1 and all(_scalar(v) for v in value)
        return f"[{items}]" if same else f"({items})"
    raise TypeError(f"{key}: {type(value).__name__} is no value of a configuration")


class Config(Owner):
    """What a run is set up from.

    source: a dict; the path of a file (os.PathLike, or a str without "="); or text (a str with "=").
    sets: {"dtm.policy": "dvfs"} or ["dtm.policy=dvfs"], as --set of the program.
    """

    def __init__(self, source, sets=()):
        if isinstance(source, dict):
            words = "tmx_config_parse", to_text(source).encode(), b"dict"
        elif isinstance(source, str) and "=" in source:
            words = "tmx_config_parse", source.encode(), b"text"
        elif isinstance(source, (str, bytes, os.PathLike)):
            words = "tmx_config_open", os.fsencode(source)
        else:
            raise TypeError(f"{source!r} is no configuration: expected a dict, the path of a file, or text")
        self._handle = Handle(words[0], "tmx_config_close", *words[1:])
        if isinstance(sets, dict):
            sets = [f"{k}={_value(v, k)}" for k, v in sets.items()]
        for assignment in sets:
            call("tmx_config_set", self._handle, assignment.encode())
