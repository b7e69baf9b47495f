import { shortestToken } from '../../dashboard/options.ts'
import { defaultPort, isLoopback, serveDashboard } from '../../dashboard/serve.ts'
import { isJustonceError } from '../../errors/index.ts'
import { UsageError } from '../command.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import { userName } from '../user-name.ts'

const tokenVariable = 'JUSTONCE_DASHBOARD_TOKEN'
const about = `Serves a page with everything that the other commands show and do, until Ctrl-C. Only this machine can reach it, unless --host says
otherwise; then it needs a token. With the app (--config), dead letters can be edited, too.`

export const dashboardCommand = operatorCommand(
  { name: 'dashboard', summary: 'serves a page that shows all of this, and does it' },
  {
    name: '',
    summary: 'serves a page that shows all of this, and does it',
    about,
    allShards: true,
    options: {
      host: { kind: 'text', value: 'address', text: 'where it listens. Default: 127.0.0.1, for this machine only' },
      port: { kind: 'number', text: `Default: ${defaultPort}; 0 for one that is free` },
      token: {
        kind: 'text',
        value: 'secret',
        text: `whoever has it may do everything; at least ${shortestToken} characters. Default: $${tokenVariable}`,
      },
    },
    check(given) {
      given.number('port')
      if (isLoopback(given.text('host') ?? '127.0.0.1') || tokenOf(given) !== undefined) return
      throw new UsageError(`others can reach it on ${given.text('host')}: give --token, or set ${tokenVariable}.`)
    },
    run: serve,
  },
)

function tokenOf(given: Desk['given']): string | undefined {
  const token = given.text('token') ?? process.env[tokenVariable]
  return token === '' ? undefined : token
}

async function serve({ operations, all, given, terminal, isJson }: Desk): Promise<number> {
  const token = tokenOf(given)
  const [host, port] = [given.text('host'), given.number('port')]
  const byShard = Object.fromEntries(all.map(({ shard, operations }) => [shard, operations]))
  const server = await serveDashboard(all.length > 1 ? byShard : operations, {
    host,
    port,
    token,
    by: userName(),
  }).catch((error) => {
    if (isJustonceError(error)) throw error
    throw new UsageError(`it cannot listen there: ${error.message}. Another one may be running: try --port 0.`)
  })
  terminal.out.write(
    isJson
      ? `${JSON.stringify({ url: server.url })}\n`
      : `The dashboard is at ${server.url}${token === undefined ? '' : '  It asks for the token.'}\nCtrl-C ends it.\n`,
  )
  await untilStopped()
  await server.close()
  return 0
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
}
