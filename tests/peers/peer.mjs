// What the client drivers share: arguments, the plan, and transcripts that two runs can be compared by.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The folder that `.ci/peers` installs the packages into. */
export const peersFolder = process.env.TAPEWRIGHT_PEERS_DIR
  ? resolve(process.env.TAPEWRIGHT_PEERS_DIR)
  : resolve(here, '../../target/peers');

/** Imports from the peers folder: these files live outside it. */
export const requirePeer = createRequire(join(peersFolder, 'package.json'));

const readJson = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'));

export const plan = readJson('plan.json');

/** What a holding client sends, up to the named stage. See opening.py, which says why. */
export function opening(stage) {
  const stages = readJson('opening.json');
  return Object.keys(stages).slice(0, Object.keys(stages).indexOf(stage) + 1).flatMap((name) => stages[name]);
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** `--name value` pairs up to `--`, then the server's command line. Repeated names make a list. */
export function parseArguments(argv) {
  const split = argv.indexOf('--');
  if (split < 0 || split === argv.length - 1) throw new Error('expected: [--OPTION VALUE]... -- COMMAND [ARGS...]');
  const options = { env: [] };
  for (let i = 0; i < split; i += 2) {
    const name = argv[i].replace(/^--/, '');
    if (name === 'env') options.env.push(argv[i + 1]);
    else options[name] = argv[i + 1];
  }
  options.env = Object.fromEntries(options.env.map((pair) => pair.split(/=(.*)/s, 2)));
  return { options, command: argv[split + 1], args: argv.slice(split + 2) };
}

const VOLATILE = [
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}( \([^)]*\))?/g, '<date>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d{1,2}:\d\d:\d\d([\s\u202f](AM|PM))?/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b[0-9a-f]{32}\b/gi, '<id>'],
  [/\b(localhost|127\.0\.0\.1):\d+/g, '<address>'],
];

const maskText = (text) => VOLATILE.reduce((masked, [pattern, name]) => masked.replace(pattern, name), text);

/** The value with what differs from run to run masked, and long text replaced by its length and hash. */
export function masked(value, key = '') {
  if (typeof value === 'string') {
    if (key === 'blob') {
      const text = Buffer.from(value, 'base64').toString('latin1');
      if (maskText(text) !== text) return `blob of ${maskText(text)}`;
    }
    const text = maskText(value);
    if (text.length <= 4000) return text;
    return `<${text.length} units, sha256 ${createHash('sha256').update(text, 'utf16le').digest('hex')}>`;
  }
  if (Array.isArray(value)) return value.map((item) => masked(item));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item, name)]));
  }
  return value;
}

/** Arguments of a step: `{repeat, times}` becomes long text, `$ROOT` the working folder. */
export function expanded(value, root) {
  if (typeof value === 'string') return value.replaceAll('$ROOT', root ?? '');
  if (Array.isArray(value)) return value.map((item) => expanded(item, root));
  if (value && typeof value === 'object') {
    if (typeof value.repeat === 'string') return value.repeat.repeat(value.times);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, expanded(item, root)]));
  }
  return value;
}

export function print(entry) {
  process.stdout.write(`${JSON.stringify(masked(entry))}\n`);
}

/** What arrived unasked, by method, so that a step can wait for it and the transcript can end with it. */
export class Arrivals {
  #seen = new Map();
  #waiting = [];

  add(method, params) {
    if (!this.#seen.has(method)) this.#seen.set(method, []);
    this.#seen.get(method).push(params);
    this.#waiting = this.#waiting.filter(([wanted, done]) => wanted !== method || done());
  }

  async has(method, patience = 30) {
    if (this.#seen.has(method)) return true;
    await new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`no ${method} within ${patience} s`)), patience * 1000);
      this.#waiting.push([method, () => (clearTimeout(late), done(), false)]);
    });
    return true;
  }

  /** Sorted by method, in order of arrival within one: between methods the order may differ from run to run. */
  entries() {
    return [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
