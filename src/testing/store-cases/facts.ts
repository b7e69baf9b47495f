import assert from 'node:assert/strict'
import type { FactChange, Store } from '../../contracts/index.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf } from '../waiting.ts'

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
      assert.deepEqual(await store.facts.change(undefined, []), [])
    },
  },
  {
    name: 'facts: a change is refused if another came first, and then nothing changes',
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
    name: 'facts: each of several changes is decided by itself, with one answer each, in order',
    async run({ store, rival }) {
      const known = present(await change(store, { name: 'b', value: '1' }), 'the revision')
      const answers = await rival.facts.change(undefined, [
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
    name: 'facts: a removal takes effect when its transaction commits, and not before',
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
  {
    name: 'facts: those of a kind are listed, the latest first, up to the limit, without those that have expired',
    async run({ store, rival }) {
      for (const name of ['note 2', 'note 1', 'notes 1', 'note', 'lease note 1', 'note 3'])
        await change(store, { name, value: `of ${name}` })
      await change(store, { name: 'note 4', value: 'over', forMs: 1 })
      const over = async () => ((await store.facts.read(['note 4']))[0] === undefined ? true : undefined)
      await eventually(over, 'its end')
      const known = await store.facts.read(['note 2'])
      await change(rival, { name: 'note 2', from: known[0]?.revision, value: 'changed' })
      const names = ['note 3', 'note 2', 'note 1', 'note']
      const read = await store.facts.read(names)
      const listed = await rival.facts.list('note', 10)
      assert.deepEqual(
        listed,
        names
          .map((name, place) => ({ name, ...present(read[place], name) }))
          // Facts created at the same moment keep the order given here.
          .sort((a, b) => b.revision - a.revision),
      )
      assert.deepEqual([listed[0]?.name, listed[0]?.value], ['note 2', 'changed'])
      assert.deepEqual(await store.facts.list('note', 2), listed.slice(0, 2))
      assert.deepEqual(await store.facts.list('not', 10), [])
    },
  },
  {
    name: 'facts: a change is visible once its transaction has committed, and never if it is rolled back',
    async run({ store, rival }) {
      const first = present(await change(store, { name: 'a', value: 'first' }), 'the revision')
      const changeBoth = (value: string, fails: boolean) =>
        store.transaction(async (tx) => {
          const [a, b] = await store.facts.change(tx, [
            { name: 'a', from: first, value, forMs: undefined },
            { name: 'b', from: undefined, value, forMs: undefined },
          ])
          if (fails) throw new Error('the work failed')
          return [a, b]
        })
      await failureOf(changeBoth('undone', true), 'work that throws')
      assert.deepEqual(await rival.facts.read(['a', 'b']), [{ value: 'first', revision: first }, undefined])
      const answers = await changeBoth('second', false)
      const found = await rival.facts.read(['a', 'b'])
      assert.deepEqual(
        found.map((fact) => [fact?.value, fact?.revision]),
        answers.map((revision) => ['second', revision]),
      )
    },
  },
  {
    name: 'facts: of two transactions that change a fact from the same revision, one succeeds and the other changes nothing',
    async run({ store, rival }) {
      const from = present(await change(store, { name: 'a', value: 'first' }), 'the revision')
      const race = (on: typeof store, value: string) =>
        on.transaction(async (tx) => {
          const [revision] = await on.facts.change(tx, [{ name: 'a', from, value, forMs: undefined }])
          if (revision === undefined) throw new Error('a rival came first')
          await on.facts.change(tx, [{ name: `by ${value}`, from: undefined, value, forMs: undefined }])
          return value
        })
      const ends = await Promise.allSettled([race(store, 'one'), race(rival, 'other')])
      const won = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []))
      assert.equal(won.length, 1, JSON.stringify(ends))
      assert.equal((await store.facts.read(['a']))[0]?.value, won[0])
      assert.deepEqual(
        (await store.facts.list('by', 10)).map(({ value }) => value),
        won,
      )
    },
  },
]

function change<Tx>(
  { facts }: Store<Tx>,
  given: Pick<FactChange, 'name' | 'value'> & Partial<FactChange>,
): Promise<number | undefined> {
  return facts.change(undefined, [{ from: undefined, forMs: undefined, ...given }]).then(([revision]) => revision)
}
