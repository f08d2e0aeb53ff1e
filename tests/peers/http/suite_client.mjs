// The client that the conformance suite judges: suite_client.mjs URL, with the scenario in the environment. Up to
// 2025-11-25 it is the first TypeScript SDK, from 2026-07-28 on the second.
//
// It does what most scenarios are about, in one way for all: connect, authorizing where that is asked for, list the tools
// and call each. What it fails, it fails with the recorder in between and without.
import { requirePeer } from '../peer.mjs';

const url = new URL(process.argv[2]);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const modern = version >= '2026-07-28';

const sdk = (path) => requirePeer(modern ? '@modelcontextprotocol/client' : `@modelcontextprotocol/sdk/${path}.js`);
const { Client } = sdk('client/index');
const { StreamableHTTPClientTransport } = sdk('client/streamableHttp');
const { UnauthorizedError } = sdk('client/auth');

/** A user who consents to everything at once. */
class Consenting {
  redirectUrl = 'http://localhost:3000/callback';
  clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
  clientMetadata = { client_name: 'tapewright-peer', redirect_uris: [this.redirectUrl] };
  #kept = new Map(context.client_id && [['client', { client_id: context.client_id, client_secret: context.client_secret }]]);

  clientInformation() { return this.#kept.get('client'); }
  saveClientInformation(client) { this.#kept.set('client', client); }
  tokens() { return this.#kept.get('tokens'); }
  saveTokens(tokens) { this.#kept.set('tokens', tokens); }
  codeVerifier() { return this.#kept.get('verifier'); }
  saveCodeVerifier(verifier) { this.#kept.set('verifier', verifier); }
  discoveryState() { return this.#kept.get('discovery'); }
  saveDiscoveryState(state) { this.#kept.set('discovery', state); }

  async redirectToAuthorization(where) {
    const answer = await fetch(where, { redirect: 'manual' });
    await answer.body?.cancel();
    this.answered = new URL(answer.headers.get('location')).searchParams;
  }
}

const provider = scenario.startsWith('auth/') ? new Consenting() : undefined;
const newTransport = () => new StreamableHTTPClientTransport(url, { authProvider: provider });
let transport = newTransport();

function newClient() {
  const capabilities = { elicitation: modern ? { form: {} } : { form: { applyDefaults: true } } };
  const options = { capabilities, ...(modern && { versionNegotiation: { mode: { pin: version } } }) };
  const client = new Client({ name: 'tapewright-peer', version: '1' }, options);
  client.setRequestHandler(modern ? 'elicitation/create' : sdk('types').ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
  return client;
}

/** Does it again once the user has consented, but not for ever. */
async function consenting(attempt) {
  for (let left = 3; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !provider?.answered || left === 0) throw error;
      const answered = provider.answered;
      await transport.finishAuth(modern ? answered : answered.get('code'));
    }
  }
}

let client;
await consenting(async () => {
  client = newClient();
  const fresh = newTransport();
  try {
    await client.connect(fresh);
  } finally {
    transport = fresh; // also when it asks for consent: it knows who asked
  }
});
const { tools } = await consenting(() => client.listTools());
for (const tool of tools) {
  const filled = Object.entries(tool.inputSchema.properties ?? {}).map(([name, { type }]) => [
    name, { string: 'text', number: 2, integer: 3, boolean: true }[type] ?? null,
  ]);
  await consenting(() => client.callTool({ name: tool.name, arguments: Object.fromEntries(filled) }))
    .catch((error) => console.error(`${tool.name}: ${error.message}`));
}
await client.close();
process.exit(0);
