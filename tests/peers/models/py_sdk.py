#!/usr/bin/env python3
"""What an official SDK for Python sees of a provider: `py_sdk.py SDK URL KEY CASE...`.
Each case is a line of JSON: `case`, `saw` (everything, as the SDK gives it), `calls` (its own figures).
"""

import asyncio
import json
import sys

ASKED = "What is 2 + 3?"
SUM = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
RESULT = "5"


def call(stream, usage, tools=()):
    """One call of a model: tokens that were read, those from a cache among them, and tokens that were made."""
    read, cached, made = usage
    return {"stream": stream, "input": read, "cached": cached or None, "output": made, "tools": list(tools)}


class Anthropic:
    def __init__(self, url, key):
        import anthropic

        self.client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)

    def turn(self, messages, stream):
        tools = [{"name": "add", "description": "adds", "input_schema": SUM}]
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 999, "messages": messages, "tools": tools}
        if not stream:
            return self.client.messages.create(**asked), []
        with self.client.messages.stream(**asked) as events:
            seen = [event.type for event in events]
            return events.get_final_message(), seen

    def loop(self, stream, text=ASKED):
        messages = [{"role": "user", "content": text}]
        saw, calls = [], []
        while True:
            message, seen = self.turn(messages, stream)
            uses = [block for block in message.content if block.type == "tool_use"]
            usage = message.usage
            cached = usage.cache_read_input_tokens or 0
            read = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
            saw.append([message.model_dump(mode="json"), seen])
            calls.append(call(stream, (read, cached, usage.output_tokens), [use.name for use in uses]))
            if not uses:
                return saw, calls
            results = [{"type": "tool_result", "tool_use_id": use.id, "content": RESULT} for use in uses]
            messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]


class Chat:
    model = "gpt-5"

    def __init__(self, url, key):
        import openai

        self.client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)

    def turn(self, messages, stream):
        tools = [{"type": "function", "function": {"name": "add", "description": "adds", "parameters": SUM}}]
        asked = {"model": self.model, "messages": messages, "tools": tools}
        if not stream:
            return self.client.chat.completions.create(**asked), []
        with self.client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
            seen = [event.type for event in events]
            return events.get_final_completion(), seen

    def loop(self, stream, text=ASKED):
        messages = [{"role": "user", "content": text}]
        saw, calls = [], []
        while True:
            done, seen = self.turn(messages, stream)
            message, usage = done.choices[0].message, done.usage
            uses = message.tool_calls or []
            details = usage.prompt_tokens_details
            tokens = (usage.prompt_tokens, details and details.cached_tokens, usage.completion_tokens)
            saw.append([done.model_dump(mode="json"), seen])
            calls.append(call(stream, tokens, [use.function.name for use in uses]))
            if not uses:
                return saw, calls
            messages.append(message.model_dump(mode="json", exclude_none=True, exclude={"parsed"}))
            messages += [{"role": "tool", "tool_call_id": use.id, "content": RESULT} for use in uses]


class Responses(Chat):
    def turn(self, messages, stream):
        tools = [{"type": "function", "name": "add", "description": "adds", "parameters": SUM, "strict": False}]
        asked = {"model": self.model, "input": messages, "tools": tools}
        if not stream:
            return self.client.responses.create(**asked), []
        with self.client.responses.stream(**asked) as events:
            seen = [event.type for event in events]
            return events.get_final_response(), seen

    def loop(self, stream, text=ASKED):
        messages = [{"role": "user", "content": text}]
        saw, calls = [], []
        while True:
            done, seen = self.turn(messages, stream)
            uses = [item for item in done.output if item.type == "function_call"]
            usage = done.usage
            tokens = (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens)
            saw.append([done.model_dump(mode="json"), seen])
            calls.append(call(stream, tokens, [use.name for use in uses]))
            if not uses:
                return saw, calls
            messages += [item.model_dump(mode="json", exclude_none=True, exclude={"parsed_arguments"}) for item in done.output]
            messages += [{"type": "function_call_output", "call_id": use.call_id, "output": RESULT} for use in uses]


class Gemini:
    def __init__(self, url, key):
        from google import genai

        self.types = genai.types
        self.client = genai.Client(api_key=key, http_options=genai.types.HttpOptions(base_url=url, api_version="v1beta"))

    def turn(self, contents, stream):
        types = self.types
        add = types.FunctionDeclaration(name="add", description="adds", parameters_json_schema=SUM)
        asked = {
            "model": "gemini-2.5-flash",
            "contents": contents,
            "config": types.GenerateContentConfig(tools=[types.Tool(function_declarations=[add])]),
        }
        if not stream:
            return [self.client.models.generate_content(**asked)]
        return list(self.client.models.generate_content_stream(**asked))

    def loop(self, stream, text=ASKED):
        types = self.types
        contents = [types.Content(role="user", parts=[types.Part(text=text)])]
        saw, calls = [], []
        while True:
            chunks = self.turn(contents, stream)
            parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
            uses = [part.function_call for part in parts if part.function_call]
            usage = chunks[-1].usage_metadata
            made = usage.candidates_token_count + (usage.thoughts_token_count or 0)
            tokens = (usage.prompt_token_count, usage.cached_content_token_count, made)
            saw.append([chunk.model_dump(mode="json") for chunk in chunks])
            calls.append(call(stream, tokens, [use.name for use in uses]))
            if not uses:
                return saw, calls
            results = [types.Part.from_function_response(name=use.name, response={"result": RESULT}) for use in uses]
            contents += [types.Content(role="model", parts=parts), types.Content(role="user", parts=results)]


class Mistral:
    def __init__(self, url, key):
        from mistralai.client import Mistral

        self.client = Mistral(api_key=key, server_url=url)

    def turn(self, messages, stream):
        tools = [{"type": "function", "function": {"name": "add", "description": "adds", "parameters": SUM}}]
        asked = {"model": "mistral-medium-latest", "messages": messages, "tools": tools}
        if not stream:
            done = self.client.chat.complete(**asked)
            return [done.model_dump(mode="json")], done.choices[0].message, done.usage
        text, uses, seen, usage = "", [], [], None
        for event in self.client.chat.stream(**asked):
            seen.append(event.data.model_dump(mode="json"))
            usage = event.data.usage or usage
            for choice in event.data.choices:
                text += choice.delta.content or ""
                uses += choice.delta.tool_calls or []
        from mistralai.client.models import AssistantMessage

        return seen, AssistantMessage(content=text, tool_calls=uses or None), usage

    def loop(self, stream, text=ASKED):
        messages = [{"role": "user", "content": text}]
        saw, calls = [], []
        while True:
            seen, message, usage = self.turn(messages, stream)
            uses = message.tool_calls or []
            details = usage.model_dump(mode="json").get("prompt_tokens_details") or {}
            tokens = (usage.prompt_tokens, details.get("cached_tokens"), usage.completion_tokens)
            saw.append(seen)
            calls.append(call(stream, tokens, [use.function.name for use in uses]))
            if not uses:
                return saw, calls
            messages.append(message)
            messages += [
                {"role": "tool", "name": "add", "tool_call_id": use.id, "content": RESULT} for use in uses
            ]


class Agents:
    """The framework of OpenAI, on Responses as it is by itself."""

    def __init__(self, url, key):
        import agents
        import openai

        agents.set_tracing_disabled(True)
        self.events = asyncio.new_event_loop()
        client = openai.AsyncOpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
        model = agents.OpenAIResponsesModel(model="gpt-5", openai_client=client)

        @agents.function_tool
        def add(a: int, b: int) -> str:
            """adds"""
            return RESULT

        self.agents, self.agent = agents, agents.Agent(name="sums", instructions="Add.", tools=[add], model=model)

    def loop(self, stream, text=ASKED):
        # One loop for all runs: the client's connections live in it.
        return self.events.run_until_complete(self.run(stream, text))

    async def run(self, stream, text):
        runner = self.agents.Runner
        if stream:
            done = runner.run_streamed(self.agent, text)
            seen = [event.type async for event in done.stream_events()]
        else:
            done, seen = await runner.run(self.agent, text), []
        calls = []
        for response in done.raw_responses:
            usage = response.usage
            tools = [item.name for item in response.output if item.type == "function_call"]
            tokens = (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens)
            calls.append(call(stream, tokens, tools))
        return [done.final_output, done.to_input_list(), seen], calls


SDKS = {
    "anthropic": Anthropic,
    "openai-chat": Chat,
    "openai-responses": Responses,
    "google-genai": Gemini,
    "mistralai": Mistral,
    "openai-agents": Agents,
}


def trouble(client, text, stream):
    """What the SDK makes of an error: the kind of its exception, and what that says."""
    try:
        client.loop(stream, text)
    except Exception as error:  # whatever the SDK throws is what is asked for
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        return [type(error).__name__, status, str(error)]
    return ["nothing"]


def main():
    name, url, key, *cases = sys.argv[1:]
    client = SDKS[name](url, key)
    for case in cases:
        calls = []
        match case:
            case "whole" | "stream":
                saw, calls = client.loop(case == "stream")
            case "limited" | "overloaded":
                saw = trouble(client, f"be {case}", False)
            case "cut" | "fails":
                saw = trouble(client, f"be {case}", True)
            case "whole-only":
                # A provider that answers a request for a stream with one document.
                saw = trouble(client, ASKED, True)
            case "refused":
                saw = trouble(SDKS[name](url, "sk-wrong"), ASKED, False)
        print(json.dumps({"case": case, "saw": saw, "calls": calls}), flush=True)


if __name__ == "__main__":
    main()
