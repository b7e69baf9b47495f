import { version } from '../../encoding/version.ts'
import { prometheusContentType, prometheusText } from '../../metrics/index.ts'
import { numberFrom } from '../input.ts'
import type { Route } from '../route.ts'

export const monitoringRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'api/session',
    needs: 'read',
    run: async ({ access: { by, may } }) => ({ by, may, version }),
  },
  {
    method: 'GET',
    path: 'api/overview',
    needs: 'read',
    shared: true,
    async run({ operations, query }) {
      const minutes = numberFrom(query, 'minutes')
      const process = query.get('process') ?? undefined
      return await operations.overview({ ...(minutes !== undefined && { minutes }), process })
    },
  },
  {
    method: 'GET',
    path: 'api/alerts',
    needs: 'read',
    shared: true,
    run: async ({ operations }) => await operations.alerts(),
  },
  {
    method: 'GET',
    path: 'metrics',
    needs: 'read',
    run: async ({ operations }) =>
      new Response(await prometheusText({ operations }), { headers: { 'content-type': prometheusContentType } }),
  },
  {
    method: 'GET',
    path: 'api/processes',
    needs: 'read',
    shared: true,
    run: async ({ operations }) => await operations.processes(),
  },
  {
    method: 'GET',
    path: 'api/handlers',
    needs: 'read',
    shared: true,
    run: async ({ operations }) => await operations.handlers.list(),
  },
  ...(['pause', 'resume'] as const).map(
    (action): Route => ({
      method: 'POST',
      path: `api/handlers/${action}`,
      needs: 'operate',
      async run({ operations, input, signed }) {
        const given = await input()
        return { changed: await operations.handlers[action](given.handler as string, signed(given)) }
      },
    }),
  ),
  {
    method: 'GET',
    path: 'api/schedules',
    needs: 'read',
    run: async ({ operations }) => await operations.schedules.list(),
  },
  {
    method: 'POST',
    path: 'api/schedules/forget',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { forgotten: await operations.schedules.forget(given.name as string, signed(given)) }
    },
  },
  {
    method: 'GET',
    path: 'api/audit',
    needs: 'read',
    async run({ operations, query, access }) {
      const actions = await operations.audit(numberFrom(query, 'limit') ?? 100)
      return actions.map((each) => ({ ...each, subject: shownSubject(each.subject, access.may.includes('bodies')) }))
    },
  },
]

/** Discarding a million letters is a thousand actions with a thousand names each, and a page asks for its actions again and again. */
const mostNamed = 20

/** The result that a person gave for an intent is content, like a body. */
export function shownSubject(subject: unknown, mayBodies: boolean): unknown {
  if (typeof subject !== 'object' || subject === null) return subject
  const shown = Object.entries(subject).filter(([name]) => mayBodies || name !== 'result')
  return Object.fromEntries(shown.map(([name, value]) => [name, Array.isArray(value) ? shortened(value) : value]))
}

function shortened(list: readonly unknown[]): readonly unknown[] {
  if (list.length <= mostNamed) return list
  return [...list.slice(0, mostNamed), `and ${list.length - mostNamed} more`]
}
