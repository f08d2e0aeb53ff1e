// What a test asks for: its cassette, its server, and whether that is recorded or played.

import { accessSync, constants, existsSync } from 'node:fs'
import { basename, delimiter, dirname, extname, isAbsolute, join, resolve } from 'node:path'

/** As of `tapewright record --mode`. */
export const MODES = ['none', 'once', 'new-episodes', 'all']
const UNUSED = ['fail', 'ignore']
const KNOWN = ['cassette', 'command', 'mode', 'options', 'program', 'unused', 'url']

/** The mode that holds: of the test, the environment, CI (which records nothing), else `once`. */
export function modeOf(given, variables) {
  if (given) return given
  if (variables.TAPEWRIGHT_MODE) return variables.TAPEWRIGHT_MODE
  return ['', '0', 'false'].includes((variables.CI ?? '').toLowerCase()) ? 'once' : 'none'
}

/** Where the cassette of a test is: `cassettes/<file>/<test>.json` beside the file of the test. */
export function cassetteOf(file, names) {
  const stem = basename(file, extname(file)).replace(/\.(test|spec)$/, '')
  const clean = names.join(' ').replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'test'
  return join(dirname(file), 'cassettes', stem, `${clean}.json`)
}

/** Checked settings, whole. Throws what cannot be followed. */
export function settingsOf(given, test, variables) {
  const unknown = Object.keys(given).filter((name) => !KNOWN.includes(name))
  if (unknown.length) throw new Error(`tapewright: unknown option ${unknown.join(', ')}`)
  const mode = modeOf(given.mode, variables)
  if (!MODES.includes(mode)) throw new Error(`tapewright: unknown mode \`${mode}\`; expected one of ${MODES.join(', ')}`)
  const unused = given.unused ?? 'fail'
  if (!UNUSED.includes(unused)) throw new Error(`tapewright: \`unused\` is \`fail\` or \`ignore\`, not \`${unused}\``)
  for (const name of ['command', 'options']) {
    if (given[name] !== undefined && !Array.isArray(given[name])) {
      throw new Error(`tapewright: \`${name}\` is a list of arguments: it is passed on without a shell`)
    }
  }
  if (given.command && given.url) throw new Error('tapewright: give a `command` or a `url`, not both')
  const cassette = given.cassette ? resolve(dirname(test.file), given.cassette) : cassetteOf(test.file, test.names)
  const isThere = existsSync(cassette)
  if (mode === 'none' && !isThere) {
    throw new Error(`tapewright: ${cassette} does not exist, and mode \`none\` never records; record it with TAPEWRIGHT_MODE=once`)
  }
  const plays = mode === 'none' || (mode === 'once' && isThere)
  if (!plays && !given.command && !given.url) {
    throw new Error(`tapewright: mode \`${mode}\` records ${cassette}, and no server is given: give a \`command\` or a \`url\``)
  }
  const { command = [], options = [], url } = given
  return { cassette, command, mode, options, plays, program: programOf(given.program, variables), unused, url }
}

function programOf(given, variables) {
  const wanted = given ?? variables.TAPEWRIGHT ?? 'tapewright'
  const places = wanted.includes('/') || isAbsolute(wanted) ? [''] : (variables.PATH ?? '').split(delimiter)
  for (const place of places) {
    const path = resolve(place, wanted)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not there: the next one.
    }
  }
  throw new Error(`tapewright: program \`${wanted}\` not found: install it, or name it in the variable TAPEWRIGHT`)
}
