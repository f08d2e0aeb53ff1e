// A server for one test: played from its cassette, or recorded into it. The protocol is tapewright's; nothing here speaks it.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

// Each start of the command leaves its process id behind, and its report under that: a client may start it more than once.
// `exec` leaves no shell between the client and tapewright.
const PLAY = ': > "$0/$$.started"; exec "$@" --report "$0/$$.json"'
const RECORD = ': > "$0/$$.started"; exec "$@"'
// How long a server that a test has let go of may take to end.
const PATIENCE_MS = 10_000

export class Server {
  #settings
  #notes = mkdtempSync(join(tmpdir(), 'tapewright-vitest-'))
  #listening
  #url

  constructor(settings) {
    this.#settings = settings
  }

  get settings() {
    return this.#settings
  }

  get cassette() {
    return this.#settings.cassette
  }

  get argv() {
    return ['sh', '-c', this.#settings.plays ? PLAY : RECORD, this.#notes, this.#settings.program, ...this.#words(), ...this.#behind()]
  }

  get command() {
    return this.argv[0]
  }

  get args() {
    return this.argv.slice(1)
  }

  get stdio() {
    const [command, ...args] = this.argv
    return { command, args }
  }

  /** The address over streamable HTTP. The server is started when this is first asked for. */
  url() {
    this.#url ??= this.#listen()
    return this.#url
  }

  #words() {
    const { cassette, mode, options, plays, url } = this.#settings
    if (plays) return ['replay', cassette, ...options]
    mkdirSync(dirname(cassette), { recursive: true })
    return ['record', '--mode', mode, '-o', cassette, ...options, ...(url ? ['--upstream', url] : [])]
  }

  #behind() {
    const { command, plays } = this.#settings
    return command.length && !plays ? ['--', ...command] : []
  }

  async #listen() {
    const report = this.#settings.plays ? ['--report', join(this.#notes, 'listening.json')] : []
    const words = [...this.#words(), ...report, '--listen', '127.0.0.1:0', ...this.#behind()]
    const child = spawn(this.#settings.program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    const over = new Promise((done) => {
      child.once('exit', () => done())
      child.once('error', () => done())
    })
    this.#listening = { child, over }
    let errors = ''
    child.stderr.on('data', (data) => (errors += data))
    for await (const line of createInterface(child.stdout)) return new URL(JSON.parse(line).listening)
    await over
    throw new Error(`tapewright did not start: ${errors.trim()}`)
  }

  #started() {
    return readdirSync(this.#notes).filter((name) => name.endsWith('.started')).map((name) => Number.parseInt(name, 10))
  }

  wasUsed() {
    return this.#url !== undefined || this.#started().length > 0
  }

  /** Ends what still listens, waits for what clients have let go of, and says what had to be ended by force. */
  async end() {
    const forced = []
    if (this.#listening) {
      const { child, over } = this.#listening
      child.kill('SIGTERM')
      const late = await Promise.race([over, sleep(PATIENCE_MS, 'late', { ref: false })])
      if (late) {
        child.kill('SIGKILL')
        await over
        forced.push('the listening server did not end')
      }
    }
    const until = Date.now() + PATIENCE_MS
    for (const process_ of this.#started()) {
      while (runs(process_) && Date.now() < until) await sleep(10)
      if (runs(process_)) {
        process.kill(process_, 'SIGTERM')
        forced.push('the test still holds its server open: close its client')
      }
    }
    return forced
  }

  /** What replays say of themselves, once they are over. */
  reports() {
    const files = readdirSync(this.#notes).filter((name) => name.endsWith('.json')).sort()
    return files.flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(this.#notes, name), 'utf8'))]
      } catch {
        return [] // it was killed while it wrote
      }
    })
  }

  clear() {
    rmSync(this.#notes, { recursive: true, force: true })
  }
}

// Whether a process still does something. One that has ended and was not waited for does not.
function runs(id) {
  try {
    const state = readFileSync(`/proc/${id}/stat`, 'utf8').split(')').pop().trim()[0]
    return state !== 'Z' && state !== 'X'
  } catch {
    if (process.platform === 'linux') return false
  }
  try {
    process.kill(id, 0)
    return true
  } catch {
    return false
  }
}
