import assert from 'node:assert/strict'
import type { Position, PositionMove, Positions, Store } from '../../contracts/index.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold, staysPending } from '../waiting.ts'

const group = 'billing'
const at = (next: string, incarnation = 'one'): Position => ({ next, incarnation })
const partition = (name: string) => ({ source: 'notes', partition: name })

/** One row for each partition, moved by compare-and-set. */
export const positionCases: readonly StoreCase[] = [
  {
    name: 'positions: nothing is stored until a position is moved, and then every process sees where to continue',
    needs: ['positions'],
    async run({ store, rival }) {
      assert.deepEqual(await positionsOf(store).load(group, [partition('0'), partition('1')]), [undefined, undefined])
      assert.deepEqual(await move(store, { ...partition('0'), expected: undefined, to: at('7') }), [undefined])
      assert.deepEqual(await positionsOf(rival).load(group, [partition('1'), partition('0')]), [undefined, at('7')])
      assert.deepEqual(await positionsOf(store).load('another group', [partition('0')]), [undefined])
      assert.deepEqual(await positionsOf(store).load(group, []), [])
    },
  },
  {
    name: 'positions: one that is not where it was expected stays, and the answer says where it is',
    needs: ['positions'],
    async run({ store, rival }) {
      await move(store, { ...partition('0'), expected: undefined, to: at('7') })
      const answers = await move(
        rival,
        { ...partition('0'), expected: undefined, to: at('1') },
        { ...partition('1'), expected: at('3'), to: at('4') },
        { ...partition('2'), expected: undefined, to: at('5') },
      )
      assert.deepEqual(answers, [at('7'), 'none', undefined])
      assert.deepEqual(await move(rival, { ...partition('0'), expected: at('7', 'two'), to: at('8') }), [at('7')])
      assert.deepEqual(await move(rival, { ...partition('0'), expected: at('7'), to: at('2', 'two') }), [undefined])
      assert.deepEqual(await positionsOf(store).load(group, [partition('0'), partition('2')]), [
        at('2', 'two'),
        at('5'),
      ])
    },
  },
  {
    name: 'positions: names are compared byte by byte, and so are positions',
    needs: ['positions'],
    async run({ store }) {
      for (const name of ['a', 'A', 'a ', '0', '00'])
        assert.deepEqual(await move(store, { ...partition(name), expected: undefined, to: at(`next of ${name}`) }), [
          undefined,
        ])
      assert.deepEqual(await move(store, { ...partition('a'), expected: at('NEXT OF a'), to: at('9') }), [
        at('next of a'),
      ])
    },
  },
  {
    name: 'positions: a move that is rolled back has not happened',
    needs: ['positions'],
    async run({ store }) {
      const work = store.transaction(async (tx) => {
        await positionsOf(store).move(tx, group, [{ ...partition('0'), expected: undefined, to: at('7') }])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await positionsOf(store).load(group, [partition('0')]), [undefined])
    },
  },
  {
    name: 'positions: of two rivals that expect the same position, one moves it, and the other waits and then sees where it is',
    needs: ['positions', 'concurrent'],
    async run({ store, rival }) {
      for (const expected of [undefined, at('7')]) {
        const [first, second] = expected === undefined ? ['7', '8'] : ['9', '10']
        const holder = await hold(store, (tx) =>
          positionsOf(store).move(tx, group, [{ ...partition('0'), expected, to: at(first) }]),
        )
        const waiting = move(rival, { ...partition('0'), expected, to: at(second) })
        await staysPending(waiting, 'a move of what a rival is moving')
        await holder.commit()
        assert.deepEqual(await waiting, [at(first)])
      }
    },
  },
]

/** Assumes that the store has positions: these cases run only if it does. */
function positionsOf<Tx>(store: Store<Tx>): Positions<Tx> {
  return store.positions as Positions<Tx>
}

function move<Tx>(store: Store<Tx>, ...moves: readonly PositionMove[]) {
  return store.transaction((tx) => positionsOf(store).move(tx, group, moves))
}
