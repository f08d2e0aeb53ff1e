// The clients behind the tapes of this folder: each does a little of everything that its carrier can do.
//
//   TAPEWRIGHT_PEERS_DIR=target/peers node tests/wire/record.mjs handshake -- COMMAND [ARGS...]
//   TAPEWRIGHT_PEERS_DIR=target/peers node tests/wire/record.mjs handshake --transport http -- URL
//   TAPEWRIGHT_PEERS_DIR=target/peers node tests/wire/record.mjs stateless -- COMMAND [ARGS...]
//
// COMMAND is `tapewright record -o out.tape.jsonl -- node SERVER`, URL that of a gateway in front of the server. The
// server of `handshake` is server-everything, the one of `stateless` is ../peers/modern_server.mjs.
import { parseArguments, pause, requirePeer } from '../peers/peer.mjs';

const [kind, ...rest] = process.argv.slice(2);
const { options, command, args } = parseArguments(rest);
const overHttp = /^https?:/.test(command);

async function handshake() {
  const { Client } = requirePeer('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = requirePeer('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = requirePeer('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { SSEClientTransport } = requirePeer('@modelcontextprotocol/sdk/client/sse.js');
  const types = requirePeer('@modelcontextprotocol/sdk/types.js');
  const client = new Client({ name: 'wire', version: '1' }, {
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } },
  });
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///srv', name: 'srv' }] }));
  client.setRequestHandler(types.CreateMessageRequestSchema, () => (
    { role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'stub' }));
  client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: 'decline' }));
  const http = { http: StreamableHTTPClientTransport, sse: SSEClientTransport }[options.transport ?? 'http'];
  const transport = overHttp ? new http(new URL(command)) : new StdioClientTransport({ command, args, stderr: 'ignore' });
  await client.connect(transport);
  await client.ping();
  await pause(300);
  await client.listTools();
  const call = (name, given = {}, settings = {}) => client.callTool({ name, arguments: given }, undefined, settings);
  await call('echo', { message: 'hällo' });
  await call('get-structured-content', { location: 'New York' });
  await call('trigger-long-running-operation', { duration: 1, steps: 3 }, { onprogress: () => {} });
  await call('trigger-sampling-request', { prompt: 'x', maxTokens: 10 });
  await call('trigger-elicitation-request');
  await call('trigger-url-elicitation', { url: 'https://example.com/a', elicitationId: 'e-1' });
  await call('trigger-url-elicitation', { url: 'https://example.com/b', elicitationId: 'e-2', errorPath: true }).catch(() => {});
  await call('get-roots-list');
  if (!overHttp) {
    const stream = client.experimental.tasks.callToolStream(
      { name: 'simulate-research-query', arguments: { topic: 'snakes' }, task: { ttl: 60_000 } });
    for await (const message of stream) if (message.type === 'error') throw message.error;
  }
  await client.listResources();
  await client.listResourceTemplates();
  await client.readResource({ uri: 'demo://resource/static/document/features.md' });
  await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  await client.listPrompts();
  await client.getPrompt({ name: 'simple-prompt' });
  await client.complete({ ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' } });
  await client.setLoggingLevel('debug');
  const stop = new AbortController();
  const given = call('trigger-long-running-operation', { duration: 1, steps: 1 }, { signal: stop.signal });
  setTimeout(() => stop.abort('changed my mind'), 100);
  await given.catch(() => {});
  await client.ping();
  await pause(1_200);
  if (options.transport === 'http') await transport.terminateSession();
  await client.close();
}

async function stateless() {
  const { Client, StreamableHTTPClientTransport } = requirePeer('@modelcontextprotocol/client');
  const { StdioClientTransport } = requirePeer('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'wire', version: '1' }, {
    capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { sure: true } }));
  const transport = overHttp
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args, stderr: 'ignore' });
  await client.connect(transport);
  await client.listTools();
  const subscription = await client.listen({ toolsListChanged: true });
  await client.callTool({ name: 'echo', arguments: { message: 'hällo' } });
  await client.callTool({ name: 'steps', arguments: { count: 2 } }, { onprogress: () => {} });
  await client.callTool({ name: 'confirm', arguments: { what: 'go' } });
  await client.listResources();
  await client.readResource({ uri: 'modern://fixed' });
  await client.listPrompts();
  await client.getPrompt({ name: 'say', arguments: { what: 'é' } });
  await subscription.close();
  await client.close();
}

await { handshake, stateless }[kind]();
process.exit(0);
