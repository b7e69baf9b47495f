import type { Operations } from '../operations/index.ts'
import { jsonAnswer, pageAnswer, refusedAnswer, secured } from './answers.ts'
import { accessOf, checkHost, checkOrigin, checkPermission } from './guard.ts'
import { readInput } from './input.ts'
import { type NodeHandler, nodeHandler } from './node-handler.ts'
import { areShards, handleShards, type OfShards } from './of-shards.ts'
import { type Access, type DashboardOptions, type Decided, decideOptions } from './options.ts'
import { page } from './page.generated.ts'
import { Refusal, refusalOf } from './refusal.ts'
import type { Call, Route } from './route.ts'
import { routes } from './routes.ts'
import { SharedAnswers } from './shared-answers.ts'
import { Shown } from './shown.ts'

/** The dashboard, for a server of your choice. */
export interface Dashboard {
  /** For servers that speak `Request` and `Response`: Hono, Next.js and others. */
  handle(request: Request): Promise<Response>
  /** For `node:http` and frameworks built on it: Express, Fastify. */
  readonly nodeHandler: NodeHandler
}

/**
 * A page for operators, and what it asks the store. With the operations of several shards by name, each has a page below its name, and a
 * page above them leads there.
 *
 * ```ts
 * const { nodeHandler } = dashboard(app.operations, { token: process.env.DASHBOARD_TOKEN })
 * createServer(nodeHandler).listen(4000, '127.0.0.1')
 * ```
 */
export function dashboard(operations: Operations | OfShards, options: DashboardOptions): Dashboard {
  const handle = areShards(operations) ? handleShards(operations, options, handlerOf) : handlerOf(operations, options)
  return { handle, nodeHandler: nodeHandler(handle) }
}

function handlerOf(operations: Operations, options: DashboardOptions): Dashboard['handle'] {
  const decided = decideOptions(options)
  const answers = new SharedAnswers()
  const showPage = pageAnswer(page)

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    checkHost(url, decided)
    const path = pathWithin(url.pathname, decided)
    if (path === '') return pageFor(request, showPage)
    checkOrigin(request, url)
    const access = await accessOf(request, decided)
    const route = findRoute(request.method, path)
    checkPermission(access, route.needs)
    const call = callOf(request, url, access)
    const made = route.shared
      ? await answers.get(`${path}?${url.searchParams}`, () => route.run(call))
      : await route.run(call)
    if (route.needs === 'operate') answers.forget()
    return made instanceof Response ? secured(made) : jsonAnswer(made)
  }

  function callOf(request: Request, { searchParams: query }: URL, access: Access): Call {
    return {
      operations,
      query,
      access,
      request,
      shown: new Shown(access, decided),
      input: () => readInput(request),
      signed: ({ by, why }) => ({ by: access.by ?? (by as string), ...(why !== undefined && { why: why as string }) }),
    }
  }

  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      const refusal = refusalOf(error)
      return refusedAnswer(refusal, refusal.status === 405 ? { allow: 'GET, POST' } : {})
    }
  }
}

function pathWithin(pathname: string, { path }: Pick<Decided, 'path'>): string {
  if (pathname === path || pathname === `${path}/`) return ''
  if (pathname.startsWith(`${path}/`)) return pathname.slice(path.length + 1)
  throw new Refusal(404, 'NOT_FOUND', 'There is nothing here.')
}

/** The page is the same for everybody, and says nothing of your messages: what it shows it has to ask for. */
function pageFor({ method }: Request, showPage: () => Response): Response {
  if (method === 'GET' || method === 'HEAD') return showPage()
  throw new Refusal(405, 'METHOD_WRONG', 'The page is for reading.')
}

function findRoute(method: string, path: string): Route {
  const found = routes.filter((route) => route.path === path)
  const route = found.find((each) => each.method === method)
  if (route !== undefined) return route
  if (found.length === 0) throw new Refusal(404, 'NOT_FOUND', 'There is nothing here.')
  throw new Refusal(405, 'METHOD_WRONG', `This is not asked for by ${method === 'POST' ? 'POST' : 'that method'}.`)
}
