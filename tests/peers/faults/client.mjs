// A client on the official TypeScript SDK that meets a fault: it calls `echo` with each message, in order, and prints
// what came of it, one JSON line per step. Its requests time out soon.
//
//   node client.mjs TIMEOUT_MS MESSAGE,MESSAGE,... -- COMMAND [ARGS...]
//   node client.mjs TIMEOUT_MS MESSAGE,MESSAGE,... -- URL
import { requirePeer } from '../peer.mjs';

const { Client } = requirePeer('@modelcontextprotocol/sdk/client/index.js');
const split = process.argv.indexOf('--');
const [timeout, messages] = [Number(process.argv[2]), process.argv[3].split(',')];
const [command, ...args] = process.argv.slice(split + 1);

function newTransport() {
  if (/^https?:/.test(command)) {
    const { StreamableHTTPClientTransport } = requirePeer('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return new StreamableHTTPClientTransport(new URL(command));
  }
  const { StdioClientTransport, getDefaultEnvironment } = requirePeer('@modelcontextprotocol/sdk/client/stdio.js');
  return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment() }, stderr: 'ignore' });
}

async function step(name, work) {
  const began = performance.now();
  let outcome;
  try {
    outcome = { text: await work() };
  } catch (error) {
    outcome = { error: `${error?.name}: ${error?.message}` };
  }
  process.stdout.write(`${JSON.stringify({ step: name, ms: Math.round(performance.now() - began), ...outcome })}\n`);
}

const client = new Client({ name: 'faulted', version: '1' });
client.onerror = (error) => process.stdout.write(`${JSON.stringify({ heard: String(error) })}\n`);
await step('connect', async () => {
  await client.connect(newTransport());
  return 'connected';
});
for (const message of messages) {
  await step(message, async () => {
    const result = await client.callTool({ name: 'echo', arguments: { message } }, undefined, { timeout });
    return result.content[0].text;
  });
}
await step('close', async () => {
  await client.close();
  return 'closed';
});
// What is left of a connection that broke must not keep the process.
process.exit(0);
