"""The plugin: options, the marker, the fixture `tapewright`, and the failure of a test whose cassette does not fit."""

import os
import pathlib

import pytest

from . import explain
from .server import Server
from .settings import MODES, BadSettings, Settings, cassette, mode, program

SERVERS = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("tapewright", "recorded MCP servers")
    group.addoption("--tapewright-mode", choices=MODES, help="play cassettes, or record them; `none` under CI, else `once`")
    group.addoption("--tapewright", metavar="PROGRAM", help="the tapewright to run")
    parser.addini("tapewright_mode", "the mode where neither option, variable nor CI says", default="")
    parser.addini("tapewright_command", "the server that is recorded where no marker says", type="args", default=[])


def pytest_configure(config):
    what = "tapewright(command=[...] or url=..., cassette=..., mode=..., unused='fail'|'ignore', options=[...])"
    config.addinivalue_line("markers", f"{what}: the recorded server of the test")


class Servers:
    """The fixture: the server of the test, and more of them by name."""

    def __init__(self, request, folder):
        self._request, self._folder = request, folder
        self._known = {}
        self.has_failed = self.is_told = False

    def __getattr__(self, name):
        """What the test's own server has: `command`, `args`, `stdio`, `url`, `cassette`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.server(), name)

    def server(self, name=None, **given):
        """A server of the test; `name` tells several apart. `given` is as in the marker."""
        if name not in self._known:
            folder = self._folder / f"server-{len(self._known)}"
            folder.mkdir()
            try:
                settings = self._settings(name, given)
                ours = program(self._request.config.getoption("--tapewright"), os.environ)
                self._known[name] = Server(ours, settings, folder)
            except BadSettings as problem:
                pytest.fail(f"tapewright: {problem}", pytrace=False)
        elif given:
            pytest.fail(f"tapewright: the server `{name}` was already made; its settings come with its first use", pytrace=False)
        return self._known[name]

    def _settings(self, name, given):
        config = self._request.config
        marker = self._request.node.get_closest_marker("tapewright")
        wanted = dict(marker.kwargs) if marker and name is None else {}
        wanted.update(given)
        unknown = set(wanted) - {"cassette", "command", "mode", "options", "unused", "url"}
        if unknown or marker and marker.args:
            named = ", ".join(sorted(unknown)) or "an argument without a name"
            raise BadSettings(f"the marker does not know {named}")
        path = pathlib.Path(self._request.node.path)
        own = wanted.pop("cassette", None)
        file = path.parent / own if own else cassette(path, self._request.node.name, name)
        holds = mode(config.getoption("--tapewright-mode"), os.environ, config.getini("tapewright_mode"))
        wanted.setdefault("mode", holds)
        if not wanted.get("url"):
            wanted.setdefault("command", config.getini("tapewright_command"))
        for many in ("command", "options"):
            if isinstance(wanted.get(many), list):
                wanted[many] = tuple(wanted[many])
        return Settings(cassette=file, **wanted)

    def is_over(self):
        return all(server.is_over() for server in self._known.values())

    def end(self):
        return [line for server in self._known.values() for line in server.end()]

    def wrong(self):
        """What has to fail the test."""
        lines = []
        for server in self._known.values():
            if server.settings.plays_only or server.reports():
                lines.extend(explain.wrong(server.settings, server.reports(), server.was_used()))
        return lines


@pytest.fixture
def tapewright(request, tmp_path_factory):
    """The recorded MCP server of this test."""
    servers = Servers(request, tmp_path_factory.mktemp("tapewright"))
    request.node.stash[SERVERS] = servers
    yield servers
    forced = servers.end()
    if servers.is_told:
        return
    wrong = [*servers.wrong(), *forced]
    if wrong and servers.has_failed:
        request.node.add_report_section("teardown", "tapewright", "\n".join(wrong))
    elif wrong:
        pytest.fail("\n".join(["tapewright:", *wrong]), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fails a test whose cassette does not fit, and explains the failure of one that was missed something.

    A client that a fixture holds is still connected: then the fixture `tapewright` judges when that has gone.
    """
    try:
        result = yield
    except BaseException:
        servers = item.stash.get(SERVERS, None)
        if servers is not None:
            servers.has_failed = True
            if servers.is_over() and servers.wrong():
                servers.is_told = True
                item.add_report_section("call", "tapewright", "\n".join(servers.wrong()))
        raise
    servers = item.stash.get(SERVERS, None)
    if servers is not None and servers.is_over():
        servers.is_told = True
        wrong = servers.wrong()
        if wrong:
            pytest.fail("\n".join(["tapewright:", *wrong]), pytrace=False)
    return result
