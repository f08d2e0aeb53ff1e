// A client on the official TypeScript SDK: connects to COMMAND, does what plan.json says for that server, and prints
// what the SDK handed back, one JSON line per step.
//
//   node ts_client.mjs [--sdk 1|2] [--era legacy|auto|VERSION] [--root DIR] [--env K=V]... -- COMMAND [ARGS...]
//   node ts_client.mjs [--transport http|sse] ... -- URL    the same over HTTP; the session is ended with DELETE
//   node ts_client.mjs --hold STAGE ... only opens, as far as opening.json has it under STAGE, says {"ready":true}, and
//                                       closes the SDK's way when a line comes on stdin
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Arrivals, expanded, opening, parseArguments, pause, peersFolder, plan, print, requirePeer } from './peer.mjs';

const { options, command, args } = parseArguments(process.argv.slice(2));
const second = options.sdk === '2';
const era = options.era ?? 'legacy';
const flavour = second ? 'ts2' : 'ts1';
const { Client } = requirePeer(second ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js');
const overHttp = /^https?:/.test(command);

function newTransport() {
  if (overHttp) {
    const [module, name] = options.transport === 'sse'
      ? ['sse.js', 'SSEClientTransport']
      : ['streamableHttp.js', 'StreamableHTTPClientTransport'];
    const packageOf = requirePeer(second ? '@modelcontextprotocol/client' : `@modelcontextprotocol/sdk/client/${module}`);
    return new packageOf[name](new URL(command));
  }
  const { StdioClientTransport, getDefaultEnvironment } = requirePeer(
    second ? '@modelcontextprotocol/client/stdio' : '@modelcontextprotocol/sdk/client/stdio.js',
  );
  return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...options.env }, stderr: 'pipe' });
}

const transport = newTransport();
let stderr = Buffer.alloc(0);
transport.stderr?.on('data', (chunk) => { stderr = Buffer.concat([stderr, chunk]); });

async function hold() {
  await transport.start();
  for (const { unanswered, ...message } of opening(options.hold)) {
    const answered = new Promise((done) => { transport.onmessage = ({ id }) => id === message.id && done(); });
    await transport.send({ jsonrpc: '2.0', ...message });
    if (message.id !== undefined && !unanswered) await answered;
  }
  process.stdout.write('{"ready":true}\n');
  await once(process.stdin, 'data');
  await transport.close();
  process.stdout.write('{"closed":true}\n');
}

const arrivals = new Arrivals();
const CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};

/** The answers to what servers ask of clients; the same every time. */
const ANSWERS = {
  'roots/list': () => ({ roots: [{ uri: pathToFileURL(options.root ?? peersFolder).href, name: 'räum' }] }),
  'sampling/createMessage': () => ({
    role: 'assistant',
    content: { type: 'text', text: 'sampled: «ok» 👍' },
    model: 'peer-model',
    stopReason: 'endTurn',
  }),
  'elicitation/create': ({ mode, requestedSchema }) => {
    if (mode === 'url') return { action: 'decline' };
    if (requestedSchema?.properties?.interpretation) return { action: 'accept', content: { interpretation: 'snake' } };
    if (requestedSchema?.properties?.sure) return { action: 'accept', content: { sure: true } };
    return { action: 'accept', content: { name: 'Zoë', check: true, integer: 7, number: 2.5 } };
  },
};

function newClient() {
  const info = { name: 'tapewright-peer', version: '1' };
  if (second) {
    const client = new Client(info, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode: ['legacy', 'auto'].includes(era) ? era : { pin: era } },
    });
    for (const [method, answer] of Object.entries(ANSWERS)) {
      client.setRequestHandler(method, (request) => {
        arrivals.add(method, request.params);
        return answer(request.params ?? {});
      });
    }
    return client;
  }
  const types = requirePeer('@modelcontextprotocol/sdk/types.js');
  const { InMemoryTaskStore } = requirePeer('@modelcontextprotocol/sdk/experimental/tasks');
  const tasks = { requests: { sampling: { createMessage: {} } }, list: {}, cancel: {} };
  const client = new Client(info, { capabilities: { ...CAPABILITIES, tasks }, taskStore: new InMemoryTaskStore() });
  const schemas = {
    'roots/list': types.ListRootsRequestSchema,
    'sampling/createMessage': types.CreateMessageRequestSchema,
    'elicitation/create': types.ElicitRequestSchema,
  };
  for (const [method, answer] of Object.entries(ANSWERS)) {
    client.setRequestHandler(schemas[method], async (request, extra) => {
      arrivals.add(method, request.params);
      const result = answer(request.params ?? {});
      if (!request.params?.task) return result;
      const task = await extra.taskStore.createTask({ ttl: request.params.task.ttl });
      await extra.taskStore.storeTaskResult(task.taskId, 'completed', result);
      return { task };
    });
  }
  return client;
}

const client = newClient();
client.fallbackNotificationHandler = async ({ method, params }) => arrivals.add(method, params);

/** Everything the pages of a list hold; `Client` of the second SDK walks them itself. */
async function all(list, member) {
  const found = [];
  let cursor;
  do {
    const page = await list.call(client, cursor === undefined ? {} : { cursor });
    found.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function call(step, onprogress, signal) {
  const params = { name: step.tool, arguments: expanded(step.args, options.root) };
  const settings = { onprogress, signal, timeout: 50_000 };
  return second ? client.callTool(params, settings) : client.callTool(params, undefined, settings);
}

const DO = {
  ping: () => client.ping(),
  tools: () => all(client.listTools, 'tools'),
  resources: () => all(client.listResources, 'resources'),
  templates: () => all(client.listResourceTemplates, 'resourceTemplates'),
  prompts: () => all(client.listPrompts, 'prompts'),
  level: ({ level }) => client.setLoggingLevel(level),
  subscribe: ({ uri }) => client.subscribeResource({ uri }),
  unsubscribe: ({ uri }) => client.unsubscribeResource({ uri }),
  read: ({ uri }) => client.readResource({ uri }),
  prompt: (step) => client.getPrompt({ name: step.name, arguments: step.args }),
  complete: (step) => client.complete({
    ref: step.prompt ? { type: 'ref/prompt', name: step.prompt } : { type: 'ref/resource', uri: step.resource },
    argument: { name: step.argument, value: step.value },
    ...(step.context && { context: { arguments: step.context } }),
  }),
  // Over HTTP a server may have said it before there was a stream to say it on.
  await: ({ event }) => arrivals.has(event, overHttp ? 10 : 30),

  call: async (step) => {
    if (!step.progress) return call(step);
    const seen = [];
    const result = await call(step, (progress) => seen.push(progress));
    // The SDK hands over a response before the progress that came in the same read, and then drops that progress:
    // the last is not compared, and servers here leave time between the others.
    const progress = step.counted === false ? 'not compared' : seen.filter((each) => each.progress !== each.total);
    return { progress, result };
  },

  cancel: async (step) => {
    const stop = new AbortController();
    const given = call(step, () => stop.abort('changed my mind'), stop.signal);
    return given.then(() => 'finished all the same');
  },

  task: async (step) => {
    const params = { name: step.tool, arguments: step.args, task: { ttl: 60_000 } };
    const kinds = new Set();
    let result;
    const stream = client.experimental.tasks.callToolStream(params, undefined, { timeout: 50_000 });
    for await (const message of stream) {
      kinds.add(message.type);
      if (message.type === 'result') result = message.result;
      if (message.type === 'error') throw message.error;
    }
    return { kinds: [...kinds].sort(), result };
  },

  together: (step) => Promise.all(step.steps.map(outcome)),
};

async function outcome(step) {
  try {
    return { ok: await DO[step.do](step) };
  } catch (error) {
    return { error: { name: error.name, code: error.code, message: error.message, data: error.data } };
  }
}

async function session() {
  await client.connect(transport);
  const server = client.getServerVersion();
  print({ server, capabilities: client.getServerCapabilities(), instructions: client.getInstructions() });
  const steps = plan[options.plan ?? server?.name];
  if (!steps) throw new Error(`plan.json has nothing for ${JSON.stringify(server)}`);
  for (const step of steps) {
    if (step.only && !step.only.includes(flavour)) continue;
    const { args: _args, steps: _steps, ...named } = step;
    print({ ...named, ...(await outcome(step)) });
  }
  await pause(200); // for what was sent after the last answer
  await transport.terminateSession?.();
  const child = transport._process;
  const gone = child && new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
  await client.close();
  for (const [method, params] of arrivals.entries()) print({ arrived: method, times: params.length, params });
  if (overHttp) return;
  print({ stderr: stderr.toString('utf8').split('\n') });
  print({ exit: (await gone) ?? null });
}

await (options.hold ? hold() : session());
process.exit(0); // the SDK's task store keeps timers for minutes
