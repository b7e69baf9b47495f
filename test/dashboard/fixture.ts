import { onTestFinished } from 'vitest'
import { type DashboardOptions, dashboard } from '../../src/dashboard/index.ts'
import { justonce, none, PermanentError } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'

export const all = { may: ['read', 'bodies', 'operate'] } as const
export const script = `<script>alert(1)</script><img src=x onerror=alert(2)>`

/** An app with dead letters, whose ids, types, errors, bodies and headers would like to be HTML. */
export async function appWithLetters() {
  const store = memoryStore()
  const transport = memoryTransport()
  const app = justonce({ store, transport, log: false, pollMs: 10, name: 'shop' })
  let isBroken = true
  app.on('order.paid', { name: 'invoice', retry: { backoff: none }, breaker: false, keepResult: true }, ({ id }) => {
    if (isBroken) throw new PermanentError(`no stock for ${id} ${script}`)
    return { invoice: id }
  })
  const message = (id: string) => ({
    id,
    type: 'order.paid',
    body: { amount: 30, note: script, card: '4111' },
    headers: { authorization: 'Bearer abc', 'x-api-key': 'k1', trace: script },
  })
  transport.send([message('o1'), message('o2'), message(`o3${script}`)])
  await app.start()
  await transport.idle()
  onTestFinished(async () => {
    await app.stop()
    await store.close()
  })
  const repair = (): void => {
    isBroken = false
  }
  return { app, store, transport, repair }
}

/** Asks the dashboard as its page does. */
export function asking(handle: (request: Request) => Promise<Response>, base = 'http://localhost:4321') {
  const get = async (path: string, headers: Record<string, string> = {}) =>
    await handle(new Request(`${base}/${path}`, { headers }))
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
    await handle(
      new Request(`${base}/${path}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-justonce-dashboard': '1', ...headers },
      }),
    )
  return { get, post }
}

export async function openDashboard(options: Partial<DashboardOptions> = {}) {
  const made = await appWithLetters()
  const given =
    options.token === undefined && options.access === undefined ? { access: () => ({ by: 'ana', ...all }) } : {}
  const { handle, nodeHandler } = dashboard(made.app.operations, { ...given, ...options })
  return { ...made, handle, nodeHandler, ...asking(handle) }
}
