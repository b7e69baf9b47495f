import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type JustonceEvent, justonce, uuidv7 } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { runJustonce } from '../cli/run-justonce.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { roleCases } from '../conformance/role-cases.ts'
import { requireServer } from '../servers/require.ts'
import { createTwoRoles, grantAsDocumented, openAppRoleContext, type TwoRoles } from './app-role.ts'
import { newPool, newSchema } from './pg-context.ts'
import { daysFromNow } from './retention-steps.ts'

const postgres = await requireServer('postgres')
const reason = 'only the owner of the tables can remove partitions: npx justonce maintain (tested below)'
const isOrder = ({ name }: { readonly name: string }): boolean => name.startsWith('order:')

describe.skipIf(!postgres.available)('an app whose role may read and write rows, and nothing else', () => {
  let roles: TwoRoles
  let owner: pg.Pool
  beforeAll(async () => {
    roles = await createTwoRoles(postgres.url)
    owner = newPool({ url: roles.owner })
  })
  afterAll(async () => {
    await owner?.end()
    await roles?.remove()
  })

  bindStoreCases('postgres, least privilege', {
    open: () => openAppRoleContext(roles),
    cases: roleCases.filter((each) => !isOrder(each)),
    skip: [
      { case: 'retention: a started app removes what is old and keeps the rest, and no copy runs again', reason },
      {
        case: 'retention: a parked message whose record is gone is handled once, and a late copy does not run',
        reason,
      },
    ],
  })
  bindStoreCases('postgres, least privilege, another prefix', {
    open: () => openAppRoleContext(roles, 'once_'),
    cases: roleCases.filter(isOrder),
  })

  const place = () => {
    const schema = newSchema()
    const how = ['--store', roles.owner, '--schema', schema, '--prefix', 'once_']
    const run = async (command: string, ...options: readonly string[]) => {
      const ended = await runJustonce([command, ...how, ...options])
      expect(ended).toMatchObject({ code: 0, err: '' })
      return ended.out
    }
    onTestFinished(async () => void (await owner.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)))
    return { schema, run }
  }

  const startApp = async (schema: string, days?: number) => {
    const pool = newPool({ url: roles.app })
    const store = postgresStore({ pool, schema, prefix: 'once_' })
    const transport = memoryTransport()
    const retention = days === undefined ? {} : { retention: { days } }
    const app = justonce({ store, transport, schema: 'check', ids: 'uuidv7', ...retention })
    const events: JustonceEvent[] = []
    let look = () => {}
    app.events.listen((event) => {
      events.push(event)
      look()
    })
    const handled: string[] = []
    app.on('note.created', 'tag-note', ({ id }) => void handled.push(id))
    onTestFinished(async () => {
      await app.stop()
      await store.close()
      await pool.end()
    })
    await app.start()
    const seen = (isIt: (event: JustonceEvent) => boolean) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (events.some(isIt)) resolve()
        }
        look()
      })
    const handle = async (...ids: readonly string[]) => {
      transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
      await transport.idle()
    }
    // Servers of tests are quick rather than durable, and an app warns of that, too.
    const codes = () =>
      events.flatMap((event) => (event.kind === 'warning' && event.code !== 'COMMITS_NOT_DURABLE' ? event.code : []))
    return { handle, handled, events, seen, codes }
  }

  test('migrate leaves room for messages of last week and of the next weeks', async () => {
    const { schema, run } = place()
    await run('migrate')
    await grantAsDocumented(owner, roles, schema)
    const { handle, handled, events, codes } = await startApp(schema)
    const ids = [-6, -1, 0].map((days) => uuidv7(daysFromNow(days).getTime()))
    await handle(...ids, ...ids)
    expect(handled.toSorted()).toEqual(ids.toSorted())
    expect(events.map(({ kind }) => kind)).not.toContain('loop-failed')
    expect(codes()).toEqual([])
  })

  test('the printed SQL and maintain do the same, and what is granted before holds for later partitions', async () => {
    const { schema, run } = place()
    await owner.query(await run('migrate', '--print'))
    await grantAsDocumented(owner, roles, schema)
    await run('maintain', '--ahead', '20')
    const { handle, handled, codes } = await startApp(schema)
    const ids = [-29, 0].map((days) => uuidv7(daysFromNow(days).getTime()))
    await handle(...ids)
    expect(handled.toSorted()).toEqual(ids.toSorted())
    expect(codes()).toEqual([])
  })

  test('the app says what it may not do, and maintain does it', async () => {
    const { schema, run } = place()
    await owner.query(await run('migrate', '--print'))
    await grantAsDocumented(owner, roles, schema)
    await run('maintain', '--ahead', '1', '--behind', '6')
    const old = uuidv7(daysFromNow(-6).getTime())
    const { handle, handled, seen, codes, events } = await startApp(schema, 3)
    await seen((event) => event.kind === 'warning' && event.message.includes('prepare room'))
    await handle(uuidv7())
    expect(handled).toHaveLength(1)
    expect(codes()).toEqual(['OWNER_NEEDED'])
    expect(events.filter(({ kind }) => kind === 'loop-failed')).toEqual([])

    const record = `INSERT INTO ${schema}.once_inbox (handler, key, born) VALUES ('tag-note', $1, $2)`
    await owner.query(record, [old, daysFromNow(-6)])
    const second = await startApp(schema, 3)
    await second.seen((event) => event.kind === 'warning' && event.message.includes('remove old records'))
    expect(await run('maintain', '--behind', '1')).toContain('1 record from before the horizon removed')
    const third = await startApp(schema, 3)
    await third.handle(uuidv7())
    expect([third.handled.length, third.codes()]).toEqual([1, []])
  })
})
