// What an official SDK for JavaScript sees of a provider, as py_sdk.py tells it: `ts_sdk.mjs SDK URL KEY CASE...`.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ASKED = "What is 2 + 3?";
const SUM = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
const RESULT = "5";

const installed = createRequire(join(process.env.TAPEWRIGHT_PEERS_DIR, "models", "package.json"));
const load = async (name) => import(pathToFileURL(installed.resolve(name)));

function call(stream, [input, cached, output], tools) {
  return { stream, input, cached: cached || null, output, tools };
}

class Anthropic {
  async open(url, key) {
    const { default: Client } = await load("@anthropic-ai/sdk");
    this.client = new Client({ baseURL: url, apiKey: key, maxRetries: 0 });
  }

  async turn(messages, stream) {
    const tools = [{ name: "add", description: "adds", input_schema: SUM }];
    const asked = { model: "claude-sonnet-4-5", max_tokens: 999, messages, tools };
    if (!stream) return [await this.client.messages.create(asked), []];
    const seen = [];
    const events = this.client.messages.stream(asked).on("streamEvent", (event) => seen.push(event.type));
    return [await events.finalMessage(), seen];
  }

  async loop(stream, text = ASKED) {
    const messages = [{ role: "user", content: text }];
    const saw = [];
    const calls = [];
    for (;;) {
      const [message, seen] = await this.turn(messages, stream);
      const uses = message.content.filter((block) => block.type === "tool_use");
      const { input_tokens, cache_read_input_tokens: cached = 0, cache_creation_input_tokens: made = 0, output_tokens } = message.usage;
      saw.push([message, seen]);
      calls.push(call(stream, [input_tokens + cached + made, cached, output_tokens], uses.map((use) => use.name)));
      if (uses.length === 0) return [saw, calls];
      const content = uses.map((use) => ({ type: "tool_result", tool_use_id: use.id, content: RESULT }));
      messages.push({ role: "assistant", content: message.content }, { role: "user", content });
    }
  }
}

class Chat {
  async open(url, key) {
    const { default: Client } = await load("openai");
    this.client = new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  }

  async turn(messages, stream) {
    const tools = [{ type: "function", function: { name: "add", description: "adds", parameters: SUM } }];
    const asked = { model: "gpt-5", messages, tools };
    if (!stream) return [await this.client.chat.completions.create(asked), []];
    const seen = [];
    const events = this.client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
    for await (const chunk of events) seen.push(chunk);
    return [await events.finalChatCompletion(), seen];
  }

  async loop(stream, text = ASKED) {
    const messages = [{ role: "user", content: text }];
    const saw = [];
    const calls = [];
    for (;;) {
      const [done, seen] = await this.turn(messages, stream);
      const { message } = done.choices[0];
      const uses = message.tool_calls ?? [];
      const { usage } = done;
      const tokens = [usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens, usage.completion_tokens];
      saw.push([done, seen]);
      calls.push(call(stream, tokens, uses.map((use) => use.function.name)));
      if (uses.length === 0) return [saw, calls];
      messages.push(message, ...uses.map((use) => ({ role: "tool", tool_call_id: use.id, content: RESULT })));
    }
  }
}

class Responses extends Chat {
  async turn(input, stream) {
    const tools = [{ type: "function", name: "add", description: "adds", parameters: SUM, strict: false }];
    const asked = { model: "gpt-5", input, tools };
    if (!stream) return [await this.client.responses.create(asked), []];
    const seen = [];
    const events = this.client.responses.stream(asked);
    for await (const event of events) seen.push(event.type);
    return [await events.finalResponse(), seen];
  }

  async loop(stream, text = ASKED) {
    const input = [{ role: "user", content: text }];
    const saw = [];
    const calls = [];
    for (;;) {
      const [done, seen] = await this.turn(input, stream);
      const uses = done.output.filter((item) => item.type === "function_call");
      const { usage } = done;
      saw.push([done, seen]);
      const tokens = [usage.input_tokens, usage.input_tokens_details?.cached_tokens, usage.output_tokens];
      calls.push(call(stream, tokens, uses.map((use) => use.name)));
      if (uses.length === 0) return [saw, calls];
      const results = uses.map((use) => ({ type: "function_call_output", call_id: use.call_id, output: RESULT }));
      input.push(...done.output.map(({ parsed_arguments: _, ...item }) => item), ...results);
    }
  }
}

const SDKS = { "ts-anthropic": Anthropic, "ts-openai-chat": Chat, "ts-openai-responses": Responses };

async function opened(name, url, key) {
  const client = new SDKS[name]();
  await client.open(url, key);
  return client;
}

async function trouble(client, text, stream) {
  try {
    await client.loop(stream, text);
  } catch (error) {
    return [error.constructor.name, error.status ?? null, error.message];
  }
  return ["nothing"];
}

const [name, url, key, ...cases] = process.argv.slice(2);
const client = await opened(name, url, key);
for (const one of cases) {
  let saw;
  let calls = [];
  if (one === "whole" || one === "stream") [saw, calls] = await client.loop(one === "stream");
  else if (one === "refused") saw = await trouble(await opened(name, url, "sk-wrong"), ASKED, false);
  else saw = await trouble(client, `be ${one}`, one === "cut" || one === "fails");
  console.log(JSON.stringify({ case: one, saw, calls }));
}
