import type { Facts } from '../../contracts/index.ts'
import { changeFactsScript, readFactsScript, sweepFactsScript } from './scripts/facts.ts'
import type { Transactions } from './transactions.ts'

/** Fewer than Lua hands to one command. */
const chunk = 1_000

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
    async change(changes) {
      if (changes.length === 0) return []
      const asked = changes.flatMap(({ name, from, value, forMs }) => [
        name,
        from ?? '',
        value,
        forMs === undefined ? '' : Math.ceil(forMs),
      ])
      const answers = (await connection.run(changeFactsScript, ...asked)) as unknown[]
      return answers.map((revision) => (Number(revision) === 0 ? undefined : Number(revision)))
    },
    async remove(tx, names) {
      const { steps } = factory.transactionOf(tx)
      for (let from = 0; from < names.length; from += chunk)
        steps.push({ kind: 'remove-facts', names: names.slice(from, from + chunk) })
    },
    async sweep(prefix) {
      await connection.run(sweepFactsScript, prefix)
    },
  }
}
