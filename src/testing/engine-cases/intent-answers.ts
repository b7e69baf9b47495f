import assert from 'node:assert/strict'
import { DidNotHappen, JustonceError } from '../../errors/index.ts'
import { overriding } from '../overriding.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchStore, engineCase, note } from './bench.ts'

const mail = 'email.welcome'

/** The same store, which once does not hear the answer to a commit that settles an intent for this reason. */
function losingAnAnswer(store: BenchStore, reason: string): BenchStore {
  let settling: unknown
  let isLost = false
  return overriding(store, {
    parking: overriding(store.parking, {
      async change(tx, changes) {
        if (changes.some((change) => 'reason' in change && change.reason === reason)) settling = tx
        await store.parking.change(tx, changes)
      },
    }),
    async transaction(work, options) {
      let own: unknown
      const value = await store.transaction((tx, lastWrites) => {
        own = tx
        return work(tx, lastWrites)
      }, options)
      if (isLost || own !== settling) return value
      isLost = true
      throw new JustonceError('COMMIT_UNKNOWN', { message: 'The answer to the commit was lost.' })
    },
  })
}

export const intentAnswerCases: readonly StoreCase[] = [
  engineCase({
    name: 'intents: the answer to the commit that gives one up is lost, and the message about it is handled once',
    async run({ store, effects, app }) {
      const { app: opened, events, handle, stop } = app({ store: losingAnAnswer(store, 'INTENT_GIVEN_UP') })
      opened.effect(mail, {
        run() {
          throw new DidNotHappen('no such address', { permanent: true })
        },
      })
      opened.on('note.created', 'welcome', async ({ id }, { intend }) => void (await intend(mail, { to: id })))
      opened.on(`intent.failed:${mail}`, 'note-failure', async (_, { tx }) => await effects.write(tx, 'failure'))
      await handle(note('m1'))
      const hasEnded = () => events.some(({ kind }) => kind === 'intent-failed')
      await eventually(async () => (hasEnded() ? true : undefined), 'the end of the attempt')
      // Nothing is left but the intent, which waits for a person.
      const isHandled = async () => (await store.parking.list({ kind: 'any' })).length === 1
      await eventually(async () => ((await isHandled()) ? true : undefined), 'the end of the messages about it')
      await stop()
      assert.equal(await effects.count('failure'), 1)
    },
  }),
  engineCase({
    name: 'intents: an outcome is handled although payload and result are too large for one body',
    async run({ store, effects, app }) {
      const { app: opened, handle, stop } = app({ maxBodyBytes: 1_000 })
      const answers: number[] = []
      let attempts = 0
      opened.effect(mail, { run: () => 'r'.repeat(900) })
      opened.on('note.created', 'welcome', async (_, { intend }) => void (await intend(mail, 'p'.repeat(990))))
      opened.on(`intent.done:${mail}`, 'note-receipt', async ({ body }, { tx }) => {
        // Its next attempt begins with the row of a handler, no longer with what the effect has left.
        if (++attempts === 1) throw new Error('not yet')
        answers.push(String(body.payload).length, String(body.result).length)
        await effects.write(tx, 'receipt')
      })
      await handle(note('m1'))
      await eventually(async () => ((await effects.count('receipt')) === 1 ? true : undefined), 'the receipt')
      await stop()
      assert.deepEqual(answers, [990, 900])
      assert.deepEqual(await store.parking.list({ kind: 'any' }), [])
    },
  }),
  engineCase({
    name: 'intents: an answer that would poison objects is not kept, and what comes of its call is handled all the same',
    async run({ store, effects, app }) {
      const { app: opened, events, handle, stop } = app()
      const results: unknown[] = []
      opened.effect(mail, { run: () => JSON.parse('{"a":[{"__proto__":{"isAdmin":true}}]}') })
      opened.on('note.created', 'welcome', async (_, { intend }) => void (await intend(mail, {})))
      opened.on(`intent.done:${mail}`, 'note-receipt', async ({ body }, { tx }) => {
        results.push(body.result)
        await effects.write(tx, 'receipt')
      })
      await handle(note('m1'))
      await eventually(async () => ((await effects.count('receipt')) === 1 ? true : undefined), 'the receipt')
      await stop()
      assert.deepEqual(results, [undefined])
      const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.code] : []))
      assert.deepEqual(warnings, ['INTENT_RESULT_NOT_KEPT'])
      assert.deepEqual(await store.parking.list({ kind: 'any' }), [])
    },
  }),
]
