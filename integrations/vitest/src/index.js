// `recorded(options)` is vitest's `test` with a recorded MCP server in its context.

import { test as plain } from 'vitest'

import { wrong } from './explain.js'
import { Server } from './server.js'
import { settingsOf } from './settings.js'

export { MODES } from './settings.js'

/** The names of a test and of what it is in, outermost first. */
function namesOf(task) {
  const names = []
  for (let one = task; one && one !== task.file; one = one.suite) if (one.name) names.unshift(one.name)
  return names
}

/** vitest's `test` with `{ tapewright }` in its context: the recorded server of each test. */
export function recorded(options = {}) {
  return plain.extend({
    // eslint-disable-next-line no-empty-pattern -- vitest reads the names of what a fixture needs
    tapewright: async ({ task }, use) => {
      const settings = settingsOf(options, { file: task.file.filepath, names: namesOf(task) }, process.env)
      const server = new Server(settings)
      try {
        await use(server)
        const forced = await server.end()
        const lines = settings.plays ? wrong(settings, server.reports(), server.wasUsed()) : []
        if (lines.length || forced.length) throw new Error(['tapewright:', ...lines, ...forced].join('\n'))
      } finally {
        server.clear()
      }
    },
  })
}

/** A test whose server was recorded before, and is not asked. */
export const test = recorded()
