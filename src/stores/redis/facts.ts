import type { FactChange, Facts } from '../../contracts/index.ts'
import { changedFact, type FactRow } from '../../facts/index.ts'
import { type Connection, text } from './connection.ts'
import {
  changeFactsScript,
  listFactsScript,
  lookAtFactsScript,
  readFactsScript,
  removeFactsScript,
  sweepFactsScript,
} from './scripts/facts.ts'
import type { Transaction } from './transaction.ts'
import type { Transactions } from './transactions.ts'

export function redisFacts<Tx extends object>({ connection, factory }: Transactions<Tx>): Facts<Tx> {
  return {
    async read(names) {
      if (names.length === 0) return []
      const answers = (await connection.run(readFactsScript, ...names)) as unknown[]
      return names.map((_, place) => {
        const revision = answers[2 * place]
        return revision === null ? undefined : { revision: Number(revision), value: String(answers[2 * place + 1]) }
      })
    },
    async list(kind, limit) {
      const answers = ((await connection.run(listFactsScript, kind, limit)) as unknown[]).map(text)
      return Array.from({ length: answers.length / 3 }, (_, place) => {
        const [name = '', revision, value = ''] = answers.slice(3 * place, 3 * place + 3)
        return { name, revision: Number(revision), value }
      })
    },
    async change(tx, changes) {
      if (changes.length === 0) return []
      if (tx !== undefined) return await changeAtCommit(connection, factory.transactionOf(tx), changes)
      const asked = changes.flatMap(({ name, from, value, forMs }) => [
        name,
        from ?? '',
        value,
        forMs === undefined ? '' : Math.ceil(forMs),
      ])
      const answers = (await connection.run(changeFactsScript, ...asked)) as unknown[]
      return answers.map((revision) => (Number(revision) === 0 ? undefined : Number(revision)))
    },
    async remove(tx, which) {
      // An expired fact has expired for everyone, whatever becomes of the transaction.
      if ('expiredOf' in which) await connection.run(sweepFactsScript, which.expiredOf)
      else if (tx === undefined) await connection.run(removeFactsScript, ...which)
      else factory.transactionOf(tx).steps.push({ kind: 'remove-facts', names: which })
    },
  }
}

/** Decides by the current facts; the commit is refused if they have changed by then. */
async function changeAtCommit(
  connection: Connection,
  transaction: Transaction,
  changes: readonly FactChange[],
): Promise<(number | undefined)[]> {
  const names = changes.map(({ name }) => name)
  const [now, ...kept] = (await connection.run(lookAtFactsScript, ...names)) as unknown[]
  const own = ownFacts(transaction)
  return changes.map((change, place) => {
    const { name } = change
    const seen = kept[place] === null || kept[place] === undefined ? '' : text(kept[place])
    const known = own.has(name) ? own.get(name) : factIn(seen)
    const { row, revision } = changedFact(known, change, Number(now))
    if (row !== undefined) transaction.steps.push({ kind: 'fact', name, seen, row })
    return revision
  })
}

/** The changes that this transaction has made to facts and nobody else can see yet. */
function ownFacts({ steps }: Transaction): ReadonlyMap<string, FactRow | undefined> {
  const own = new Map<string, FactRow | undefined>()
  for (const step of steps) {
    if (step.kind === 'fact') own.set(step.name, step.row)
    if (step.kind === 'remove-facts') for (const name of step.names) own.set(name, undefined)
  }
  return own
}

const shape = /^(\d+) (\d+) (\d+) (.*)$/s

/** For a fact that never expires, both times are stored as 0. */
function factIn(kept: string): FactRow | undefined {
  const [, revision, forMs, expiresAt, value = ''] = shape.exec(kept) ?? []
  if (revision === undefined) return undefined
  const times =
    expiresAt === '0'
      ? { forMs: undefined, expiresAt: undefined }
      : { forMs: Number(forMs), expiresAt: Number(expiresAt) }
  return { value, revision: Number(revision), ...times }
}
