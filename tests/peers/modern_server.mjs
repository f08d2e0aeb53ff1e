// A small server on the second TypeScript SDK: it speaks revision 2026-07-28 (no handshake, no server requests), and the
// older revisions to a client that opens with `initialize`.
//
//   node modern_server.mjs           over stdio
//   node modern_server.mjs PORT      over HTTP
import { createServer } from 'node:http';
import { pause, requirePeer } from './peer.mjs';

const { McpServer, acceptedContent, createMcpHandler, inputRequired } = requirePeer('@modelcontextprotocol/server');
const { serveStdio } = requirePeer('@modelcontextprotocol/server/stdio');
const { z } = requirePeer('zod');

const text = (value) => ({ content: [{ type: 'text', text: value }] });

function newServer() {
  const server = new McpServer({ name: 'modern-peer', version: '1' });
  server.registerTool(
    'echo',
    { description: 'Says it again: «ü»', inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => text(`echo: ${message}`),
  );
  server.registerTool(
    'steps',
    { description: 'Counts, with progress', inputSchema: z.object({ count: z.number() }) },
    async ({ count }, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= count; progress += 1) {
        await pause(300);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: count, message: `Schritt ${progress} ✓` };
        await context.mcpReq.notify({ method: 'notifications/progress', params });
      }
      return text(`counted to ${count}`);
    },
  );
  const sure = z.object({ sure: z.boolean() });
  server.registerTool(
    'confirm',
    { description: 'Asks first', inputSchema: z.object({ what: z.string() }) },
    async ({ what }, context) => {
      const answer = acceptedContent(context.mcpReq.inputResponses, 'sure', sure);
      if (answer) return text(`${what}: ${answer.sure}`);
      return inputRequired({
        inputRequests: { sure: inputRequired.elicit({ message: `${what}?`, requestedSchema: sure }) },
      });
    },
  );
  server.registerTool(
    'ask',
    {
      description: 'Elicits, samples and asks for the roots',
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
    },
    async (_, context) => {
      if (context.mcpReq.inputResponses) return text('everything was answered');
      const messages = [{ role: 'user', content: { type: 'text', text: 'ja oder nein?' } }];
      return inputRequired({
        inputRequests: {
          sure: inputRequired.elicit({ message: 'sure?', requestedSchema: sure }),
          word: inputRequired.createMessage({ messages, maxTokens: 9 }),
          roots: inputRequired.listRoots(),
        },
      });
    },
  );
  server.registerResource('fixed', 'modern://fixed', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'fest — 漢字' }],
  }));
  server.registerPrompt('say', { argsSchema: z.object({ what: z.string() }) }, async ({ what }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Say ${what}` } }],
  }));
  return server;
}

const [port] = process.argv.slice(2);
if (port === undefined) {
  console.error('modern peer: ready – bereit');
  serveStdio(newServer);
} else {
  const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = requirePeer('@modelcontextprotocol/node');
  const [checkHost, checkOrigin] = [localhostHostValidation(), localhostOriginValidation()];
  const handler = toNodeHandler(createMcpHandler(newServer));
  createServer((request, response) => {
    if (!checkHost(request, response) || !checkOrigin(request, response)) return;
    handler(request, response);
  }).listen(Number(port), '127.0.0.1');
}
