import { parseArgs } from 'node:util'
import { type Proof, type ProveOptions, prove } from '../../testing/index.ts'
import { type Command, parsing, UsageError } from '../command.ts'
import { progressLine } from '../progress-line.ts'
import type { Terminal } from '../terminal.ts'
import { coloured } from './coloured.ts'
import { loadProofs } from './load-proofs.ts'
import { mysqlFrom } from './mysql-from.ts'
import { postgresFrom } from './postgres-from.ts'

const help = `Usage: justonce prove <file> [--json] [--postgres <url> | --mysql <url>]

Crashes, repeats and races your handlers at every step, and shows that their effect stays the same.
<file> exports the options of prove() as default, or a list of them:

  import type { ProveOptions } from 'justonce/testing'

  export default {
    setup: (db) => db.exec('CREATE TABLE payments (id TEXT PRIMARY KEY, amount INTEGER)'),
    register: (app) => app.on('payment.received', 'book-payment', bookPayment),
    messages: [{ id: 'p1', type: 'payment.received', body: { amount: 30 } }],
  } satisfies ProveOptions

  --json            prints the proof as JSON
  --postgres <url>  runs in a scratch schema of this Postgres, with pg or postgres.js as your project has it
  --mysql <url>     runs in scratch databases of this MySQL or MariaDB, with the mysql2 of your project

The exit code is 0 if everything is proven, 1 if not, 2 after an error.
`

export const proveCommand: Command = {
  name: 'prove',
  summary: 'shows that handlers take effect exactly once, whatever happens',
  about:
    'Crashes, repeats and races your handlers at every step, and shows that their effect stays the same ([guide](../guides/prove.md)).',
  takes: ['file'],
  options: {
    json: { kind: 'flag', text: 'prints the proof as JSON' },
    postgres: { kind: 'text', value: 'url', text: 'runs in a scratch schema of this Postgres' },
    mysql: { kind: 'text', value: 'url', text: 'runs in scratch databases of this MySQL or MariaDB' },
  },
  help,
  async run(args, terminal) {
    const { file, json, ...where } = parse(args)
    const proofs = await loadProofs(file)
    const database = databaseOf(where)
    const found: Proof[] = []
    for (const options of proofs) found.push(await proveOne({ ...options, ...database }, terminal))
    if (json) terminal.out.write(`${JSON.stringify(found.length === 1 ? found[0] : found, null, 2)}\n`)
    else for (const { report } of found) terminal.out.write(coloured(report, terminal.out))
    return found.every(({ ok }) => ok) ? 0 : 1
  },
}

interface Where {
  readonly postgres: string | undefined
  readonly mysql: string | undefined
}

function databaseOf({ postgres, mysql }: Where): Pick<ProveOptions, 'database'> {
  if (postgres !== undefined) return { database: postgresFrom(postgres) }
  return mysql === undefined ? {} : { database: mysqlFrom(mysql) }
}

function parse(args: readonly string[]): { file: string; json: boolean } & Where {
  return parsing(help, () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        postgres: { type: 'string' },
        mysql: { type: 'string' },
      },
      allowPositionals: true,
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new UsageError('give exactly one file.')
    const { json, postgres, mysql } = values
    if (postgres !== undefined && mysql !== undefined) throw new UsageError('give either --postgres or --mysql.')
    return { file, json, postgres, mysql }
  })
}

/** On Ctrl-C, removes its scratch database before it ends. */
async function proveOne(options: ProveOptions, { err }: Terminal): Promise<Proof> {
  const stopping = new AbortController()
  const stop = (): void => stopping.abort(new UsageError('stopped.'))
  const progress = progressLine(err)
  process.once('SIGINT', stop)
  try {
    return await prove({ ...options, signal: stopping.signal, onProgress: progress.show })
  } finally {
    process.removeListener('SIGINT', stop)
    progress.clear()
  }
}
