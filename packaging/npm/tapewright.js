#!/usr/bin/env node
// Starts the tapewright of this platform's package, with the same streams. Signals are passed on, and its exit status is ours.

'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const NAMES = { linux: ['x64', 'arm64'], darwin: ['x64', 'arm64'], win32: ['x64', 'arm64'] }

function binary() {
  if (process.env.TAPEWRIGHT_BINARY) return process.env.TAPEWRIGHT_BINARY
  const { platform, arch } = process
  if (!NAMES[platform]?.includes(arch)) {
    fail(`tapewright does not support ${platform} on ${arch}`, 'build it with cargo, and name it in TAPEWRIGHT_BINARY')
  }
  // Windows on ARM runs programs for x64.
  const processor = platform === 'win32' ? 'x64' : arch
  const name = `@tapewright/${platform}-${processor}${isMusl() ? '-musl' : ''}`
  try {
    return require.resolve(`${name}/bin/tapewright${platform === 'win32' ? '.exe' : ''}`)
  } catch {
    fail(`the package ${name} is missing`, 'install without `--omit=optional` and `--no-optional`, or name a program in TAPEWRIGHT_BINARY')
  }
}

// Alpine and other systems with musl: a program for glibc does not start there.
function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
}

function fail(what, hint) {
  process.stderr.write(`error: ${what}\n\nhint: ${hint}\n`)
  process.exit(2)
}

const path = binary()
if (process.argv.length === 3 && process.argv[2] === '--print-binary') {
  process.stdout.write(`${path}\n`)
  process.exit(0)
}
const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
const passed = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT']
if (process.platform === 'win32') {
  // The console tells the child of them, too, and `kill` would end it at once. We wait until it has ended.
  for (const name of ['SIGINT', 'SIGBREAK', 'SIGHUP']) process.on(name, () => {})
} else {
  // A signal that a terminal sends to the whole group reaches the child twice; it ignores the second.
  for (const name of passed) process.on(name, () => child.kill(name))
}
child.on('error', (error) => fail(`cannot start ${path}: ${error.message}`, 'is it a program for this machine?'))
child.on('exit', (status, signal) => {
  if (signal === null) process.exit(status)
  for (const name of passed) process.removeAllListeners(name)
  process.kill(process.pid, signal)
  // An ignored signal does not end us, so we end with the status that shells use for it.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100)
})
