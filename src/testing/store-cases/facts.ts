import assert from 'node:assert/strict'
import type { FactChange, Store } from '../../contracts/index.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'

const anHour = 3_600_000

export const factCases: readonly StoreCase[] = [
  {
    name: 'facts: a value is read as it was written, by every process, until it is changed',
    async run({ store, rival }) {
      const values = ['', ' a "b" \'c\' \\ \n d ', 'ß 漢 🙂', 'x'.repeat(5_000)]
      for (const [place, value] of values.entries()) {
        const name = `fact ${place}`
        const revision = present(await change(store, { name, value }), 'the revision')
        assert.deepEqual(await rival.facts.read(['unknown', name]), [undefined, { value, revision }])
      }
      assert.deepEqual(await store.facts.read([]), [])
      assert.deepEqual(await store.facts.change([]), [])
    },
  },
  {
    name: 'facts: a change is refused where another has come first, and leaves everything as it is',
    async run({ store, rival }) {
      const first = present(await change(store, { name: 'a', value: 'first' }), 'the revision')
      assert.equal(await change(rival, { name: 'a', value: 'other' }), undefined)
      const second = present(await change(rival, { name: 'a', from: first, value: 'second' }), 'the revision')
      assert.ok(second > first)
      assert.equal(await change(store, { name: 'a', from: first, value: 'third' }), undefined)
      assert.equal(await change(store, { name: 'b', from: first, value: 'third' }), undefined)
      assert.deepEqual(await store.facts.read(['a', 'b']), [{ value: 'second', revision: second }, undefined])
    },
  },
  {
    name: 'facts: of several changes each is decided by itself, one answer each in the order asked',
    async run({ store, rival }) {
      const known = present(await change(store, { name: 'b', value: '1' }), 'the revision')
      const answers = await rival.facts.change([
        { name: 'c', from: undefined, value: 'new', forMs: undefined },
        { name: 'b', from: known, value: '2', forMs: anHour },
        { name: 'a', from: 7, value: 'no', forMs: undefined },
      ])
      const found = await store.facts.read(['c', 'b', 'a'])
      assert.deepEqual(
        found.map((fact) => fact?.value),
        ['new', '2', undefined],
      )
      assert.deepEqual(
        found.map((fact) => fact?.revision),
        answers,
      )
    },
  },
  {
    name: 'facts: a value that stays the same keeps its revision, and only its time changes',
    async run({ store, rival }) {
      const revision = present(await change(store, { name: 'a', value: 'same', forMs: anHour }), 'the revision')
      assert.equal(await change(rival, { name: 'a', from: revision, value: 'same', forMs: 1 }), revision)
      const ended = async () => ((await store.facts.read(['a']))[0] === undefined ? true : undefined)
      await eventually(ended, 'its end')
      assert.equal(await change(rival, { name: 'a', from: revision, value: 'same' }), undefined, 'its time was over')
      const next = present(await change(store, { name: 'a', value: 'same' }), 'the revision')
      assert.ok(next > revision)
    },
  },
  {
    name: 'facts: what is removed is gone with the transaction, and not before',
    async run({ store, rival }) {
      for (const name of ['a', 'b']) await change(store, { name, value: name })
      await store.transaction((tx) => store.facts.remove(tx, ['a', 'unknown']))
      assert.deepEqual(
        (await rival.facts.read(['a', 'b'])).map((fact) => fact?.value),
        [undefined, 'b'],
      )
      assert.ok(await change(rival, { name: 'a', value: 'again' }))
    },
  },
]

function change<Tx>(
  { facts }: Store<Tx>,
  given: Pick<FactChange, 'name' | 'value'> & Partial<FactChange>,
): Promise<number | undefined> {
  return facts.change([{ from: undefined, forMs: undefined, ...given }]).then(([revision]) => revision)
}
