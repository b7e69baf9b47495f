import assert from 'node:assert/strict'
import type { StoredParkedMessage } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import type { EffectOptions } from '../../intents/effect.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type BenchApp, type BenchStore, engineCase, note } from './bench.ts'

const mail = 'email.welcome'
const handler = `!${mail}`

/** The calls that reached the provider: the idempotency key of each. */
type Provider = string[]

function withMail(opened: BenchApp, provider: Provider, options: Partial<EffectOptions> = {}): BenchApp {
  opened.app.effect(mail, {
    run(_, { idempotencyKey }) {
      provider.push(idempotencyKey)
      return 'sent'
    },
    ...options,
  })
  return opened
}

const intentsOf = (store: BenchStore): Promise<readonly StoredParkedMessage[]> => store.parking.list({ kind: 'intent' })

/** Resolves when there is no intent left, or none that anything but a person can settle. */
async function settled(store: BenchStore): Promise<void> {
  const isOver = async () => (await intentsOf(store)).every(({ state }) => state === 'dead')
  await eventually(async () => ((await isOver()) ? true : undefined), 'the end of all intents')
}

/** Leaves an intent behind as a process does that dies while it is calling. */
async function dieCalling(store: BenchStore): Promise<StoredParkedMessage> {
  const wanted = [{ handler, type: undefined }]
  const [row] = await store.parking.reserve({ limit: 1, maxBytes: 1_000_000, forMs: 60_000, wanted, pastDead: [] })
  assert.ok(row)
  await store.parking.rebook([{ ...row, begun: 1 }], 0)
  return row
}

export const intentCases: readonly StoreCase[] = [
  engineCase({
    name: 'intents: one commits with the effects of its handler, is called once, and its result is kept and handled once',
    async run({ store, effects, app }) {
      const provider: Provider = []
      const results: unknown[] = []
      const opened = withMail(app(), provider)
      opened.app.on('note.created', 'welcome', async ({ id }, { tx, intend }) => {
        await effects.write(tx, id)
        await intend(mail, { to: id, text: 'ü 😀 \0', __proto__: 1 })
      })
      opened.app.on(`intent.done:${mail}`, 'note-receipt', async ({ body }, { tx }) => {
        results.push(body.result)
        await effects.write(tx, 'receipt')
      })
      await opened.handle(note('m1'), note('m1'), note('m1'))
      await eventually(async () => ((await effects.count('receipt')) === 1 ? true : undefined), 'the receipt')
      await settled(store)
      await opened.stop()
      assert.equal(provider.length, 1)
      assert.deepEqual(results, ['sent'])
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await effects.count('receipt'), 1)
      const record = await recordOf(store, { handler, key: provider[0] as string })
      assert.deepEqual([record?.state, record?.result], ['processed', '"sent"'])
      assert.deepEqual(await store.parking.list({ kind: 'any' }), [])
    },
  }),
  engineCase({
    name: 'intents: what a handler that failed has intended is not called',
    async run({ store, app }) {
      const provider: Provider = []
      const opened = withMail(app(), provider)
      let runs = 0
      opened.app.on('note.created', 'welcome', async (_, { intend }) => {
        await intend(mail, { run: ++runs })
        if (runs === 1) throw new Error('no')
      })
      await opened.handle(note('m1'))
      await eventually(async () => (runs > 1 ? true : undefined), 'the next attempt')
      await eventually(async () => (provider.length > 0 ? true : undefined), 'the call')
      await settled(store)
      await opened.stop()
      assert.equal(provider.length, 1)
    },
  }),
  engineCase({
    name: 'intents: a key of the user is intended once, although two apps ask for it at once, and a handler runs again',
    async run({ store, rival, app }) {
      const provider: Provider = []
      const apps = [withMail(app(), provider), withMail(app({ store: rival }), provider)]
      for (const [index, opened] of apps.entries()) {
        const named = { name: `welcome-${index}`, delivery: 'at-least-once' } as const
        opened.app.on('note.created', named, async (message, { intend }) => {
          await intend(mail, { asked: message.id }, { key: 'user\'s "7" 😀' })
        })
      }
      await Promise.all(
        apps.map((opened, index) => opened.handle(note(`m${index}`), note(`m${index}`), note(`n${index}`))),
      )
      await settled(store)
      await Promise.all(apps.map((opened) => opened.stop()))
      assert.equal(provider.length, 1)
      const record = await recordOf(store, { handler, key: 'user\'s "7" 😀' })
      assert.deepEqual([record?.state, record?.result], ['processed', '"sent"'])
      const [opened] = apps
      assert.equal(
        opened?.events.some(({ kind }) => kind === 'intent-duplicate'),
        true,
      )
    },
  }),
  engineCase({
    name: 'intents: an at-least-once handler that runs again intends the same, which is called once',
    async run({ store, app }) {
      const provider: Provider = []
      const opened = withMail(app(), provider)
      let runs = 0
      opened.app.on('note.created', { name: 'welcome', delivery: 'at-least-once' }, async (_, { intend }) => {
        runs++
        await intend(mail, { number: 1 })
        await intend(mail, { number: 2 })
      })
      await opened.handle(note('m1'))
      await settled(store)
      await opened.handle(note('m1'))
      await settled(store)
      await opened.stop()
      assert.equal(runs, 2)
      assert.equal(provider.length, 2)
      assert.equal(new Set(provider).size, 2)
    },
  }),
  engineCase({
    name: 'intents: app.intend() shares the fate of the transaction of its caller, and is refused outside of one',
    needs: ['native-transaction'],
    async run({ store, transaction, app }) {
      const provider: Provider = []
      const opened = withMail(app(), provider)
      opened.app.on('note.created', 'n', () => {})
      // Before it is started: a SQLite file has one writer, and this one is not the store's.
      const rolledBack = new Error('rolled back on purpose')
      for (const key of [undefined, 'user 7'])
        await assert.rejects(
          transaction(async (tx) => {
            await opened.app.intend(mail, {}, { tx, key: key as string })
            throw rolledBack
          }),
          rolledBack,
        )
      assert.deepEqual(await intentsOf(store), [])
      await transaction((tx) => opened.app.intend(mail, {}, { tx }))
      await transaction(async (tx) => {
        await opened.app.intend(mail, {}, { tx, key: 'user 7' })
        await opened.app.intend(mail, {}, { tx, key: 'user 7' })
      })
      await transaction((tx) => opened.app.intend(mail, {}, { tx, key: 'user 7' }))
      const closed = await transaction(async (tx) => tx)
      await assert.rejects(opened.app.intend(mail, {}, { tx: closed }), (error) => isJustonceError(error))
      await assert.rejects(opened.app.intend(mail, {}, {} as never), (error) =>
        isJustonceError(error, 'OPTION_INVALID'),
      )
      await opened.handle()
      await eventually(async () => (provider.length === 2 ? true : undefined), 'both calls')
      await settled(store)
      await opened.stop()
      assert.equal(provider.length, 2)
    },
  }),
  engineCase({
    name: 'intents: app.once() intends once, however often it is called',
    async run({ store, app }) {
      const provider: Provider = []
      const opened = withMail(app(), provider)
      opened.app.on('note.created', 'n', () => {})
      await opened.handle()
      const call = () =>
        opened.app.once({ handler: 'signup', key: 'u1' }, (_, { intend }) => intend(mail, { to: 'u1' }))
      const outcomes = await Promise.all([call(), call(), call()])
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['duplicate', 'duplicate', 'processed'])
      await eventually(async () => (provider.length === 1 ? true : undefined), 'the call')
      await settled(store)
      await opened.stop()
      assert.equal(provider.length, 1)
    },
  }),
  engineCase({
    name: 'intents: two apps share many, and call each of them once',
    async run({ store, rival, app }) {
      const provider: Provider = []
      const apps = [withMail(app(), provider), withMail(app({ store: rival }), provider)]
      for (const opened of apps)
        opened.app.on('note.created', 'welcome', async ({ id }, { intend }) => void (await intend(mail, { to: id })))
      await Promise.all(
        apps.map((opened, app) => opened.handle(...Array.from({ length: 25 }, (_, index) => note(`${app}-${index}`)))),
      )
      await settled(store)
      await Promise.all(apps.map((opened) => opened.stop()))
      assert.equal(provider.length, 50)
      assert.equal(new Set(provider).size, 50)
    },
  }),
  ...(['bare', 'keyed', 'probed', 'probed and found'] as const).map((kind) =>
    engineCase({
      name: `intents: a process died while it called (${kind})`,
      async run({ store, app }) {
        const provider: Provider = []
        const first = app()
        first.app.effect(mail, { elsewhere: true })
        first.app.on('note.created', 'welcome', async (_, { intend }) => void (await intend(mail, {})))
        await first.handle(note('m1'))
        await first.stop()
        const row = await dieCalling(store)
        let asked = 0
        const found = kind === 'probed and found'
        const probe: EffectOptions['probe'] = () => {
          asked++
          return found ? { status: 'happened', result: 'found' } : { status: 'did-not-happen' }
        }
        const opened = withMail(app(), provider, {
          settleMs: 10,
          ...(kind === 'keyed' && { keyed: true }),
          ...(kind.startsWith('probed') && { probe }),
        })
        opened.app.on('note.created', 'welcome', () => {})
        await opened.handle()
        await settled(store)
        await opened.stop()
        const left = await intentsOf(store)
        if (kind === 'bare') {
          assert.deepEqual(provider, [])
          assert.deepEqual(
            left.map(({ key, state, reason, attempts }) => [key, state, reason, attempts]),
            [[row.key, 'dead', 'INTENT_UNKNOWN', 1]],
          )
          return
        }
        assert.deepEqual(left, [])
        assert.deepEqual(provider, found ? [] : [row.messageId])
        assert.equal(asked, { keyed: 0, probed: 2, 'probed and found': 1 }[kind])
        const record = await recordOf(store, { handler, key: row.key })
        assert.equal(record?.result, found ? '"found"' : '"sent"')
      },
    }),
  ),
  engineCase({
    name: 'intents: what was stored while the clock of the database was ahead is called when it is right again, or somebody is told',
    needs: ['clock'],
    async run({ store, app, moveClock, transaction }) {
      const provider: Provider = []
      const opened = withMail(app(), provider)
      opened.app.on('note.created', 'nothing', () => {})
      await store.schema.install()
      await moveClock?.(40 * 24 * anHour)
      await transaction(async (tx) => {
        await opened.app.intend(mail, { to: 'ada' }, { tx, key: 'at once' })
        await opened.app.intend(mail, { to: 'bob' }, { tx, key: 'in an hour', delayMs: anHour })
        await opened.app.intend(mail, { to: 'cyd' }, { tx, key: 'begun' })
      })
      const wanted = [{ handler, type: undefined }]
      const reserved = await store.parking.reserve({ limit: 9, maxBytes: 1e6, forMs: anHour, wanted, pastDead: [] })
      const begun = reserved.filter(({ key }) => key === 'begun')
      await store.parking.rebook(
        begun.map((row) => ({ ...row, begun: 1 })),
        anHour,
      )
      await store.parking.rebook(
        reserved.filter(({ key }) => key !== 'begun').map((row) => ({ ...row, begun: 0 })),
        0,
      )
      await moveClock?.(-40 * 24 * anHour)
      await opened.handle()
      await eventually(async () => (provider.length > 0 ? true : undefined), 'the call')
      const rows = new Map((await intentsOf(store)).map((row) => [row.key, row]))
      assert.equal(provider.length, 1)
      // If it is the present clock that is wrong, one that was to wait for long would be called much too early.
      assert.ok(rows.has('in an hour'))
      assert.equal(rows.get('begun')?.begun, 1)
      const warned = opened.events.filter((event) => event.kind === 'warning' && event.code === 'CLOCK_JUMPED')
      assert.equal(warned.length, 2)
    },
  }),
  engineCase({
    name: 'intents: concurrency is the limit of all apps together',
    async run({ store, rival, app }) {
      let running = 0
      let most = 0
      let calls = 0
      const run = async (): Promise<void> => {
        most = Math.max(most, ++running)
        calls++
        // Long enough that another call would begin beside it, if it could.
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
      }
      const apps = [
        withMail(app(), [], { run, concurrency: 2 }),
        withMail(app({ store: rival }), [], { run, concurrency: 2 }),
      ]
      for (const opened of apps)
        opened.app.on('note.created', 'welcome', async ({ id }, { intend }) => void (await intend(mail, { to: id })))
      await Promise.all(
        apps.map((opened, app) => opened.handle(...[1, 2, 3, 4].map((index) => note(`${app}-${index}`)))),
      )
      await settled(store)
      await Promise.all(apps.map((opened) => opened.stop()))
      assert.equal(calls, 8)
      assert.ok(most <= 2, `${most} calls at once`)
    },
  }),
  engineCase({
    name: 'intents: perSecond is the rate of all apps together',
    async run({ store, rival, app }) {
      const at: number[] = []
      const run = (): void => void at.push(performance.now())
      const apps = [
        withMail(app(), [], { run, perSecond: 10 }),
        withMail(app({ store: rival }), [], { run, perSecond: 10 }),
      ]
      for (const opened of apps)
        opened.app.on('note.created', 'welcome', async ({ id }, { intend }) => void (await intend(mail, { to: id })))
      await Promise.all(apps.map((opened, app) => opened.handle(...[1, 2, 3].map((index) => note(`${app}-${index}`)))))
      await settled(store)
      await Promise.all(apps.map((opened) => opened.stop()))
      assert.equal(at.length, 6)
      // Only too early can be wrong: six calls need five tenths of a second, less what the first begins late.
      const tookMs = (at.at(-1) as number) - (at[0] as number)
      assert.ok(tookMs >= 300, `6 calls within ${tookMs} ms`)
    },
  }),
]
