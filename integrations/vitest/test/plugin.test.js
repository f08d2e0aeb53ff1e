// The helper as its users have it: whole runs of vitest, with the official SDK as the client and a server over stdio.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, expect, test } from 'vitest'

const HERE = dirname(fileURLToPath(import.meta.url))
const PACKAGE = dirname(HERE)
// Below the package, so that what is imported is found.
const FOLDERS = join(PACKAGE, 'node_modules/.tapewright')

const SERVER = `
import { appendFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'sums', version: '1' })
server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => {
  appendFileSync(process.argv[2], 'called\\n')
  return { content: [{ type: 'text', text: String(a + b) }] }
})
await server.connect(new StdioServerTransport())
`

let folder
beforeEach(() => {
  mkdirSync(FOLDERS, { recursive: true })
  folder = mkdtempSync(join(FOLDERS, 'project-'))
  writeFileSync(join(folder, 'server.mjs'), SERVER)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opening = (options) => `
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect } from 'vitest'
import { recorded } from ${JSON.stringify(join(PACKAGE, 'src/index.js'))}

const test = recorded(${JSON.stringify(options)})
async function add(transport, ...pairs) {
  const client = new Client({ name: 'adds', version: '1' })
  await client.connect(transport)
  try {
    const texts = []
    for (const [a, b] of pairs) texts.push((await client.callTool({ name: 'add', arguments: { a, b } })).content[0].text)
    return texts
  } finally {
    await client.close()
  }
}
const overStdio = (server, ...pairs) => add(new StdioClientTransport(server.stdio), ...pairs)
const overHttp = async (server, ...pairs) => add(new StreamableHTTPClientTransport(await server.url()), ...pairs)
`

/** Runs these tests in a process of their own. */
function run(text, variables = {}, options = {}) {
  const command = [process.execPath, join(folder, 'server.mjs'), join(folder, 'calls')]
  writeFileSync(join(folder, 'sums.test.js'), opening({ command, ...options }) + text)
  const { CI: _ci, TAPEWRIGHT_MODE: _mode, ...rest } = process.env
  const vitest = join(PACKAGE, 'node_modules/vitest/vitest.mjs')
  const words = [vitest, 'run', '--root', folder, '--reporter=json', '--outputFile=result.json', '--no-color']
  return new Promise((done) => {
    execFile(process.execPath, words, { cwd: folder, env: { ...rest, ...variables } }, (_, out, err) => {
      const path = join(folder, 'result.json')
      if (!existsSync(path)) throw new Error(`no result: ${out} ${err}`)
      const result = JSON.parse(readFileSync(path, 'utf8'))
      const said = result.testResults.flatMap((file) => [file.message, ...file.assertionResults.flatMap((one) => one.failureMessages)])
      done({ passed: result.numPassedTests, failed: result.numFailedTests, said: said.join('\n') })
    })
  })
}

const calls = () => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').split('\n').length - 1 : 0)
const cassettes = () => readdirSync(join(folder, 'cassettes/sums')).filter((name) => !name.includes('.tape.')).sort()

const TWO = `test('adds twice', async ({ tapewright }) => {
  expect(await overStdio(tapewright, [1, 2], [3, 4])).toEqual(['3', '7'])
})`

test('a cassette is recorded once and played from then on', async () => {
  expect(await run(TWO)).toMatchObject({ passed: 1, failed: 0 })
  expect(calls()).toBe(2)
  expect(cassettes()).toEqual(['adds-twice.json'])
  expect(await run(TWO)).toMatchObject({ passed: 1, failed: 0 })
  expect(calls(), 'the server was asked again').toBe(2)
})

test('CI records nothing, and the variable counts more', async () => {
  const refused = await run(TWO, { CI: 'true' })
  expect(refused.failed).toBe(1)
  expect(refused.said).toMatch(/adds-twice\.json does not exist, and mode `none` never records/)
  expect(calls()).toBe(0)
  expect(await run(TWO, { CI: 'true', TAPEWRIGHT_MODE: 'once' })).toMatchObject({ passed: 1 })
})

test('a miss fails the test with what differs, also when the client swallows it', async () => {
  await run(TWO)
  const differs = /\/exchanges\/\d+ differs at \$\.params\.arguments\.b: recorded 4, now 5/
  const failed = await run(TWO.replace('[3, 4]', '[3, 5]'), { TAPEWRIGHT_MODE: 'none' })
  expect(failed.failed).toBe(1)
  expect(failed.said).toMatch(differs)
  const swallowed = `test('adds twice', async ({ tapewright }) => {
    await expect(overStdio(tapewright, [1, 2], [3, 5])).rejects.toThrow()
  })`
  const found = await run(swallowed, { TAPEWRIGHT_MODE: 'none' })
  expect(found.failed).toBe(1)
  expect(found.said).toMatch(/1 request not in .*adds-twice\.json/)
  expect(found.said).toMatch(differs)
})

test('unused entries fail, and may be allowed', async () => {
  await run(TWO)
  const one = TWO.replace("[1, 2], [3, 4])).toEqual(['3', '7'])", "[1, 2])).toEqual(['3'])")
  const failed = await run(one)
  expect(failed.failed).toBe(1)
  expect(failed.said).toMatch(/1 recorded request of .* never asked for:\s+\/exchanges\/\d+ {2}tools\/call/)
  expect(await run(one, {}, { unused: 'ignore' })).toMatchObject({ passed: 1 })
})

test('a server that no client uses is told', async () => {
  await run(TWO)
  const idle = await run("test('adds twice', ({ tapewright }) => { expect(tapewright.command).toBe('sh') })")
  expect(idle.failed).toBe(1)
  expect(idle.said).toMatch(/no client used the server of/)
})

test('new episodes are added', async () => {
  await run(TWO)
  const more = TWO.replace("[3, 4])).toEqual(['3', '7'])", "[3, 4], [5, 6])).toEqual(['3', '7', '11'])")
  expect(await run(more, { TAPEWRIGHT_MODE: 'new-episodes' })).toMatchObject({ passed: 1 })
  expect(calls(), 'only the new call reaches the server').toBe(3)
  expect(await run(more, { TAPEWRIGHT_MODE: 'none' })).toMatchObject({ passed: 1 })
})

test('over HTTP as over stdio, and tests of one name in several suites', async () => {
  const text = `
    describe('first', () => test('adds', async ({ tapewright }) => {
      expect(await overHttp(tapewright, [1, 2])).toEqual(['3'])
    }))
    describe('second', () => test('adds', async ({ tapewright }) => {
      expect(await overHttp(tapewright, [2, 2])).toEqual(['4'])
    }))`
  expect(await run(text)).toMatchObject({ passed: 2, failed: 0 })
  expect(cassettes()).toEqual(['first-adds.json', 'second-adds.json'])
  expect(await run(text, { TAPEWRIGHT_MODE: 'none' })).toMatchObject({ passed: 2, failed: 0 })
  const failed = await run(text.replace('[2, 2]', '[2, 3]'), { TAPEWRIGHT_MODE: 'none' })
  expect(failed).toMatchObject({ passed: 1, failed: 1 })
  expect(failed.said).toMatch(/differs at \$\.params\.arguments\.b: recorded 2, now 3/)
})

test.each([
  [{ mode: 'some' }, /unknown mode `some`/],
  [{ unused: 'warn' }, /`unused` is `fail` or `ignore`/],
  [{ url: 'http://localhost/' }, /a `command` or a `url`, not both/],
  [{ options: '-v' }, /`options` is a list of arguments/],
  [{ casette: 'x.json' }, /unknown option casette/],
  [{ program: 'no-such-program' }, /program `no-such-program` not found/],
])('what cannot be followed is refused: %j', async (options, said) => {
  const refused = await run(TWO, {}, options)
  expect(refused.failed).toBe(1)
  expect(refused.said).toMatch(said)
})
