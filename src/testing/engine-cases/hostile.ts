import assert from 'node:assert/strict'
import { unpackMessage } from '../../encoding/packed-message.ts'
import { isKey } from '../../engine/intake/check-envelope.ts'
import { countParked } from '../../operations/index.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, later, makeDue, note } from './bench.ts'

const long = 'x'.repeat(12_000)

/** Text that a producer can send and a database cannot always store. */
const hostile = [
  '\0\0\0\0\0\0\0\u0001',
  long,
  `${long}y`,
  'lone \ud800',
  'lone \udbff',
  '',
  '␀',
  'tab\tnewline\n',
  '⌘'.repeat(255),
]

/** Whatever a message contains, it ends up somewhere and holds up no others. */
export const hostileCases: readonly StoreCase[] = [
  engineCase({
    name: 'hostile: a message that no handler can take is a dead letter, whatever its id, type and headers are',
    async run({ store, effects, app }) {
      const { app: notes, handle, transport } = app()
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      const strange = hostile.flatMap((text, place) => [
        { ...note('m'), id: text, type: 'nobody.knows' },
        { ...note('m'), id: text, type: undefined },
        ...(isKey(text) ? [] : [{ ...note('m'), id: text, source: 'elsewhere' }]),
        {
          ...note(`typed-${place}`),
          type: `nobody.knows ${text}`,
          headers: { [`${text}-`]: text },
          source: `from ${text}`,
        },
      ])
      await handle(note('m1'), ...strange, note('m2'))
      await handle(...strange, note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 1, m3: 1 })
      assert.equal(transport.unsettled().length, 0)
      const rows = await store.parking.list()
      // A second copy adds nothing, and two different messages stay two.
      assert.equal(rows.length, strange.length)
      assert.equal((await notes.operations.letters.list({}, { limit: 100 })).length, rows.length)
      const kept = rows.map(({ message }) => unpackMessage(message))
      for (const { id, type } of strange)
        assert.ok(
          kept.some((each) => each.id === id && each.type === type),
          `${JSON.stringify(id?.slice(0, 40))} of type ${type?.slice(0, 40)} is not kept as it came`,
        )
    },
  }),
  engineCase({
    name: 'hostile: order is kept for every key, and no two keys are confused',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      let isBroken = true
      const order: string[] = []
      notes.on(
        'note.created',
        { name: 'tag-note', ordered: { by: 'key' }, ...later },
        async ({ id }, { tx, afterCommit }) => {
          await effects.write(tx, id)
          if (isBroken && id === 'head 0') throw new Error('not yet')
          afterCommit(() => order.push(id))
        },
      )
      const messages = hostile.flatMap((key, place) =>
        ['head', 'next', 'last'].map((name) => note(`${name} ${place}`, { key })),
      )
      await handle(...messages, note('m1'))
      const waiting = ['head 0', 'next 0', 'last 0']
      assert.deepEqual(
        (await store.parking.list()).map(({ key }) => key),
        waiting,
      )
      const others = messages.map(({ id }) => id as string).filter((id) => !waiting.includes(id))
      assert.ok(Object.values(await countsOf(effects, 'm1', ...others)).every((count) => count === 1))
      isBroken = false
      await makeDue(store)
      const retried = () => order.filter((id) => waiting.includes(id))
      // Hooks run a little after their messages are gone.
      await eventually(async () => (retried().length === waiting.length ? true : undefined), 'the retries')
      assert.deepEqual(retried(), waiting)
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'hostile: a key that differs from another only where a database would cut or clean it is a different key',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ordered: { by: 'key' }, ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'failing') throw new Error('no')
      })
      await handle(note('failing', { key: `${long}\0` }), note('m1', { key: `${long}␀` }), note('m2', { key: long }))
      assert.deepEqual(await countsOf(effects, 'failing', 'm1', 'm2'), { failing: 0, m1: 1, m2: 1 })
      const [row] = await store.parking.list()
      assert.equal(row && unpackMessage(row.message).key, `${long}\0`)
    },
  }),
  engineCase({
    name: 'hostile: a message larger than the store can keep is handled, and if it fails, a note of it is the dead letter',
    needs: ['limits'],
    async run({ store, effects, app }) {
      const { messageBytes } = present(await store.limits?.(), 'the limits of the store')
      const { app: notes, handle, events, transport } = app({ maxBodyBytes: 10 * messageBytes })
      const retry = { attempts: 9, backoff: () => 0 }
      notes.on('note.created', { name: 'tag-note', retry, breaker: false }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'failing') throw new Error('no')
      })
      const body = 'x'.repeat(messageBytes + 1_000_000)
      const large = [
        note('large', { body }),
        note('failing', { body }),
        note('unknown', { body, type: 'nobody.knows' }),
      ]
      await handle(note('m1'))
      transport.send([...large, note('m2')])
      const left = () => transport.pending().length + transport.unsettled().length
      await eventually(async () => (left() === 0 ? true : undefined), 'the end of all of them')
      await handle(note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'large', 'failing'), {
        m1: 1,
        m2: 1,
        m3: 1,
        large: 1,
        failing: 0,
      })
      const letters = await notes.operations.letters.list()
      assert.deepEqual(letters.map(({ messageId, reason }) => [messageId, reason]).sort(), [
        ['failing', 'MESSAGE_NOT_KEPT'],
        ['unknown', 'MESSAGE_NOT_KEPT'],
      ])
      assert.equal(events.filter(({ kind }) => kind === 'store-down').length, 0, 'the store was never down')
    },
  }),
]
