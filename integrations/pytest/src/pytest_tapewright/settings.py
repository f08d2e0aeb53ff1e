"""What a test asks for: its cassette, its server, and whether that is recorded or played."""

import dataclasses
import os
import pathlib
import re
import shutil

MODES = ("none", "once", "new-episodes", "all")
"""As of `tapewright record --mode`: `none` plays; `once` plays, or records what is not there; `new-episodes` plays and adds;
`all` records anew."""

UNUSED = ("fail", "ignore")


class BadSettings(Exception):
    """A marker, an option or a variable that cannot be followed."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of one server of one test."""

    cassette: pathlib.Path
    mode: str
    command: tuple = ()
    url: str | None = None
    unused: str = "fail"
    options: tuple = ()

    def __post_init__(self):
        if self.mode not in MODES:
            raise BadSettings(f"unknown mode `{self.mode}`; expected one of {', '.join(MODES)}")
        if self.unused not in UNUSED:
            raise BadSettings(f"`unused` is `fail` or `ignore`, not `{self.unused}`")
        if self.command and self.url:
            raise BadSettings("give a `command` or a `url`, not both")
        for name in ("command", "options"):
            if isinstance(getattr(self, name), str):
                raise BadSettings(f"`{name}` is a list of arguments, not a text: it is passed on without a shell")

    @property
    def plays_only(self):
        """Whether the server itself is not needed."""
        return self.mode == "none" or self.mode == "once" and self.cassette.exists()


def mode(option, variables, ini):
    """The mode that holds: of the command line, the environment, CI (which records nothing), the ini file, else `once`."""
    if option:
        return option
    if variables.get("TAPEWRIGHT_MODE"):
        return variables["TAPEWRIGHT_MODE"]
    if variables.get("CI", "").lower() not in ("", "0", "false"):
        return "none"
    return ini or "once"


def program(option, variables):
    """The tapewright that is run."""
    given = option or variables.get("TAPEWRIGHT")
    found = shutil.which(given or "tapewright", path=variables.get("PATH", os.defpath))
    if not found:
        what = f"program `{given}` not found" if given else "tapewright is not on the PATH"
        raise BadSettings(f"{what}: install it, or name it with --tapewright or the variable TAPEWRIGHT")
    return os.path.abspath(found)


def cassette(module, test, name=None):
    """Where the cassette of a test is: `cassettes/<module>/<test>.json` beside the module."""
    clean = re.sub(r"[^\w.-]+", "-", test).strip("-") or "test"
    if name:
        clean += "." + (re.sub(r"[^\w.-]+", "-", name).strip("-") or "server")
    return module.parent / "cassettes" / module.stem / f"{clean}.json"
