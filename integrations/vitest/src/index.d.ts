import type { TestAPI } from 'vitest'

/** `none` plays; `once` plays, or records what is not there; `new-episodes` plays and adds; `all` records anew. */
export type Mode = 'none' | 'once' | 'new-episodes' | 'all'
export declare const MODES: readonly Mode[]

export interface Options {
  /** The server that is recorded: a program and its arguments, without a shell. */
  command?: string[]
  /** The server that is recorded, over HTTP. */
  url?: string
  /** The file, from the folder of the test; `cassettes/<file>/<test>.json` by itself. */
  cassette?: string
  /** The variable TAPEWRIGHT_MODE by itself, `none` under CI, else `once`. */
  mode?: Mode
  /** Whether recorded requests that nobody asked for fail the test. They do by themselves. */
  unused?: 'fail' | 'ignore'
  /** More options of `tapewright record` or `replay`. */
  options?: string[]
  /** The tapewright to run; the variable TAPEWRIGHT, or the one on the PATH, by itself. */
  program?: string
}

export interface Server {
  readonly command: string
  readonly args: string[]
  readonly argv: string[]
  /** What `new StdioClientTransport(server.stdio)` takes. */
  readonly stdio: { command: string; args: string[] }
  readonly cassette: string
  /** What `new StreamableHTTPClientTransport(await server.url())` takes. The server is started when this is first asked for. */
  url(): Promise<URL>
}

/** vitest's `test` with the recorded server of each test in its context. */
export declare function recorded(options?: Options): TestAPI<{ tapewright: Server }>
export declare const test: TestAPI<{ tapewright: Server }>
