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
]
