"""A LiteLLM proxy as a provider that we did not write; what it says is mocked."""

import json
import os
import signal
import subprocess
import time
import urllib.request

import common
from servers import free_port, plain_environment

KEY = "sk-master-of-nobody-4711"
TEXT = "It is 5, says the proxy."
PROXY = common.PEERS / "venv-litellm/bin/litellm"
MODELS = ["claude-sonnet-4-5", "gpt-5", "gemini-2.5-flash"]
# SDK -> what is asked. Its mocked Messages answer a request for a stream whole, and its mocked Responses break on one.
CASES = {
    "anthropic": ["whole", "whole-only"],
    "openai-chat": ["whole", "stream"],
    "openai-responses": ["whole"],
    "google-genai": ["whole", "stream"],
}
PATIENCE_S = 120


class LiteLlm:
    """One that runs, for a `with` block."""

    def __init__(self, folder, models=None):
        """`models`: the parameters of each, as LiteLLM's configuration has them."""
        folder.mkdir(parents=True)
        self._folder, self._config = folder, folder / "config.yaml"
        models = models or {model: {"mock_response": TEXT} for model in MODELS}
        # All are one model of OpenAI, so that LiteLLM translates, and its mocks stream.
        usual = {"model": "openai/gpt-5", "api_key": "sk-none"}
        listed = [{"model_name": name, "litellm_params": usual | own} for name, own in models.items()]
        settings = {"num_retries": 0, "disable_cooldowns": True}
        # JSON is YAML.
        self._config.write_text(json.dumps({"model_list": listed, "router_settings": settings}), "utf-8")

    def __enter__(self):
        port = str(free_port())
        self.url = f"http://127.0.0.1:{port}"
        self._log = open(self._folder / "log", "wb")
        own = {
            "HOME": str(self._folder),
            "LITELLM_MASTER_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "DISABLE_ADMIN_UI": "True",
        }
        self._process = subprocess.Popen(
            [str(PROXY), "--config", str(self._config), "--host", "127.0.0.1", "--port", port, "--telemetry", "False"],
            env=plain_environment() | own,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError(f"LiteLLM does not start: {(self._folder / 'log').read_bytes()[-800:]!r}")
            time.sleep(0.2)
        return self

    def _answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health/liveliness", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def __exit__(self, *_):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()
