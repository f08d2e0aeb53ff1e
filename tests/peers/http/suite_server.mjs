// What the conformance suite asks servers for, on the first TypeScript SDK over streamable HTTP with sessions, resumable
// streams and its protection against DNS rebinding: everything that a proxy may break is exercised here.
//
//   node suite_server.mjs PORT
import { randomUUID } from 'node:crypto';
import { pause, requirePeer } from '../peer.mjs';

const sdk = (path) => requirePeer(`@modelcontextprotocol/sdk/${path}.js`);
const { Server } = sdk('server/index');
const { StreamableHTTPServerTransport } = sdk('server/streamableHttp');
const { createMcpExpressApp } = sdk('server/express');
const types = sdk('types');

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });
const schema = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = (description) => ({ type: 'string', description });
const titled = (...pairs) => pairs.map(([value, title]) => ({ const: value, title }));

async function ask(extra, message, requestedSchema) {
  const params = { message, requestedSchema };
  const answer = await extra.sendRequest({ method: 'elicitation/create', params }, types.ElicitResultSchema);
  return text(`action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

/** name -> [what its arguments are, what it answers] */
const TOOLS = {
  test_simple_text: [{}, () => text('This is a simple text response for testing.')],
  test_image_content: [{}, () => image],
  test_audio_content: [{}, () => ({ type: 'audio', data: WAV, mimeType: 'audio/wav' })],
  test_embedded_resource: [{}, () => resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [{}, () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]],
  test_tool_with_logging: [{}, async (_, extra) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await pause(50);
    }
    return text('logged');
  }],
  test_tool_with_progress: [{}, async (_, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
      await pause(50);
    }
    return text(`progress told to ${progressToken}`);
  }],
  test_error_handling: [{}, () => { throw new Error('This tool intentionally returns an error for testing'); }],
  test_sampling: [{ prompt: string('what to ask') }, async ({ prompt }, extra) => {
    const params = { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 };
    const answer = await extra.sendRequest({ method: 'sampling/createMessage', params }, types.CreateMessageResultSchema);
    return text(`LLM response: ${answer.content.text}`);
  }],
  test_elicitation: [{ message: string('what to ask') }, ({ message }, extra) => ask(extra, message, schema({
    username: string("User's response"),
    email: string("User's email address"),
  }))],
  test_elicitation_sep1034_defaults: [{}, (_, extra) => ask(extra, 'defaults', schema({
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }, []))],
  test_elicitation_sep1330_enums: [{}, (_, extra) => ask(extra, 'enums', schema({
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled(['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option']) },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled(['value1', 'First Choice'], ['value2', 'Second Choice'], ['value3', 'Third Choice']) } },
  }, []))],
  // SEP-1699: the connection ends before the answer, the stream does not; the client comes back for it.
  test_reconnection: [{}, async (_, extra) => {
    await pause(100);
    extra.closeSSEStream?.();
    await pause(100);
    return text('answered on the stream that was resumed');
  }],
};

const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
};

const user = (content) => ({ role: 'user', content });
const PROMPTS = {
  test_simple_prompt: [[], () => [user(text('This is a simple prompt for testing.'))]],
  test_prompt_with_arguments: [['arg1', 'arg2'], ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))]],
  test_prompt_with_embedded_resource: [['resourceUri'], ({ resourceUri }) => [
    user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
    user(text('Please process the embedded resource above.')),
  ]],
  test_prompt_with_image: [[], () => [user(image), user(text('Please analyze the image above.'))]],
};

function newServer() {
  const capabilities = {
    tools: {}, prompts: {}, logging: {}, completions: {}, resources: { subscribe: true, listChanged: true },
  };
  const server = new Server({ name: 'suite-peer', version: '1' }, { capabilities });
  const on = (name, handler) => server.setRequestHandler(types[`${name}RequestSchema`], handler);
  on('ListTools', () => ({
    tools: Object.entries(TOOLS).map(([name, [properties]]) => ({ name, description: name, inputSchema: schema(properties) })),
  }));
  on('CallTool', async ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    try {
      return { content: [await tool[1](params.arguments ?? {}, extra)].flat() };
    } catch (error) {
      return { isError: true, content: [text(error.message)] };
    }
  });
  on('ListResources', () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
  }));
  on('ListResourceTemplates', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  on('ReadResource', ({ params: { uri } }) => {
    const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
    const found = id === undefined
      ? RESOURCES[uri]
      : { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
    if (!found) throw new types.McpError(-32002, 'Resource not found', { uri });
    return { contents: [{ uri, ...found }] };
  });
  on('Subscribe', () => ({}));
  on('Unsubscribe', () => ({}));
  on('SetLevel', () => ({}));
  on('Complete', () => ({ completion: { values: ['test1', 'test2'], total: 2, hasMore: false } }));
  on('ListPrompts', () => ({
    prompts: Object.entries(PROMPTS).map(([name, [names]]) => ({
      name, description: name, arguments: names.map((each) => ({ name: each, description: each, required: true })),
    })),
  }));
  on('GetPrompt', ({ params }) => ({ messages: PROMPTS[params.name][1](params.arguments ?? {}) }));
  return server;
}

/** What a stream has carried, so that it can be resumed after any event. */
class Events {
  #kept = [];

  async storeEvent(stream, message) {
    this.#kept.push({ id: `${stream}_${this.#kept.length}`, stream, message });
    return this.#kept.at(-1).id;
  }

  async replayEventsAfter(last, { send }) {
    const at = this.#kept.findIndex(({ id }) => id === last);
    const { stream } = this.#kept[at];
    for (const each of this.#kept.slice(at + 1).filter((each) => each.stream === stream)) await send(each.id, each.message);
    return stream;
  }
}

const sessions = new Map();
const app = createMcpExpressApp();
const refuse = (response, status, code, message) =>
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null });

app.all('/mcp', async (request, response) => {
  const id = request.headers['mcp-session-id'];
  if (id !== undefined) {
    const known = sessions.get(id);
    return known ? known.handleRequest(request, response, request.body) : refuse(response, 404, -32001, 'Session not found');
  }
  if (!types.isInitializeRequest(request.body)) return refuse(response, 400, -32000, 'No session');
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new Events(),
    retryInterval: 500,
    onsessioninitialized: (session) => sessions.set(session, transport),
    onsessionclosed: (session) => sessions.delete(session),
  });
  await newServer().connect(transport);
  return transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.argv[2]), '127.0.0.1');
