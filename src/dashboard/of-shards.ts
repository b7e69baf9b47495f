import type { Operations } from '../operations/index.ts'
import { pageAnswer, refusedAnswer } from './answers.ts'
import { checkHost } from './guard.ts'
import { type DashboardOptions, type Decided, decideOptions } from './options.ts'
import { Refusal, refusalOf } from './refusal.ts'

type Handle = (request: Request) => Promise<Response>

/** The operations of each shard, by its name. */
export type OfShards = Readonly<Record<string, Operations>>

export function areShards(given: Operations | OfShards): given is OfShards {
  return typeof given.overview !== 'function'
}

const style = `body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}a{display:block;padding:.5rem 0}`

/** A page that leads to the dashboard of each shard, which is below its name: they ask for the same secret, and share it. */
export function handleShards(
  shards: OfShards,
  options: DashboardOptions,
  handlerOf: (operations: Operations, options: DashboardOptions) => Handle,
): Handle {
  const decided = decideOptions(options)
  const handlers = new Map(
    Object.entries(shards).map(([name, operations]) => {
      const segment = encodeURIComponent(name)
      return [segment, handlerOf(operations, { ...options, path: `${decided.path}/${segment}` })] as const
    }),
  )
  const showIndex = pageAnswer({ script: indexScript(Object.keys(shards)), style })
  return async (request) => {
    const url = new URL(request.url)
    const handler = handlers.get(segmentOf(url, decided))
    if (handler !== undefined) return await handler(request)
    try {
      checkHost(url, decided)
      const isIndex = url.pathname === decided.path || url.pathname === `${decided.path}/`
      if (isIndex && (request.method === 'GET' || request.method === 'HEAD')) return showIndex()
      throw new Refusal(404, 'NOT_FOUND', 'There is nothing here.')
    } catch (error) {
      return refusedAnswer(refusalOf(error))
    }
  }
}

function segmentOf({ pathname }: URL, { path }: Pick<Decided, 'path'>): string {
  return pathname.startsWith(`${path}/`) ? (pathname.slice(path.length + 1).split('/')[0] ?? '') : ''
}

/** Made in the browser, because only that knows where the page is mounted. */
function indexScript(names: readonly string[]): string {
  const list = JSON.stringify(names).replaceAll('<', '\\u003c')
  return `const base = location.pathname.replace(/\\/$/, '') + '/'
for (const name of ${list}) {
  const link = document.createElement('a')
  link.href = base + encodeURIComponent(name) + '/' + location.hash
  link.textContent = name
  document.getElementById('page').append(link)
}`
}
