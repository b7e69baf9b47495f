import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

export const keyCases: readonly StoreCase[] = [
  differ('keys: upper and lower case differ', ['a', 'A', 'ä', 'Ä', 'straße', 'STRASSE', 'strasse']),
  differ('keys: spaces at the end and at the beginning differ', ['a', 'a ', 'a  ', ' a', 'a\u00a0', ' ']),
  differ('keys: composed and combining forms of a letter differ', ['é', 'e\u0301', 'e', 'ﬁ', 'fi', 'K', '\u212a']),
  differ('keys: emoji and other characters beyond the basic plane differ', [
    '😀',
    '😁',
    '👍',
    '👍🏽',
    '𝔘',
    'U',
    '\u{10ffff}',
  ]),
  differ('keys: characters with a meaning in SQL are only characters', [
    "'",
    "''",
    '"',
    '\\',
    '\\\\',
    '%',
    '_',
    '$1',
    '?',
    ':key',
    '{a,b}',
    '{"a"}',
    'null',
    'NULL',
    '--',
    ';',
    ',',
    '\t',
    '\u200b',
  ]),
  differ('keys: numbers in different spelling differ', ['1', '01', '1.0', '1e0', '0x1', '+1', '１']),
  differ('keys: 255 characters are kept to the last one', [
    'x'.repeat(255),
    `${'x'.repeat(254)}y`,
    'x'.repeat(254),
    '😀'.repeat(127),
    `${'😀'.repeat(126)}😁`,
    'ü'.repeat(255),
  ]),
]

/** All keys are first, each is found separately, and all are known the next time. */
function differ(name: string, keys: readonly string[]): StoreCase {
  return {
    name,
    async run({ store, rival }) {
      assert.deepEqual(
        await states(store, keys),
        keys.map(() => undefined),
      )
      assert.deepEqual(
        await states(rival, keys),
        keys.map(() => 'processed'),
      )
      for (const key of keys) {
        assert.equal((await recordOf(store, request(key)))?.state, 'processed')
        assert.equal(
          await store.transaction((tx) => store.inbox.forget(tx, [request(key)])),
          1,
          `${JSON.stringify(key)} was taken for another key`,
        )
      }
    },
  }
}

async function states<Tx>(store: Store<Tx>, keys: readonly string[]): Promise<(string | undefined)[]> {
  const sorted = keys.toSorted((a, b) => (a < b ? -1 : 1))
  const { existing } = await store.transaction((tx) =>
    store.inbox.claim(
      tx,
      sorted.map((key) => request(key)),
    ),
  )
  return existing.map((record) => record?.state)
}
