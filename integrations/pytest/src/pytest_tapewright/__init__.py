"""Recorded MCP servers for tests. The protocol is tapewright's; nothing here speaks it."""

from .server import Server
from .settings import MODES, Settings

__all__ = ["MODES", "Server", "Settings"]
