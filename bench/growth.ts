import { startPostgres } from '../test/servers/postgres.ts'
import { claimWays, type Kind, openGrown } from './growth/claims.ts'
import { removalWays } from './growth/removal.ts'
import { sizeLine } from './growth/sizes.ts'
import { interleaved } from './rounds.ts'
import type { BenchOptions, Lines, Row, Suite } from './suite.ts'

interface GrowthOptions extends BenchOptions {
  /** So many million records there are at most; measured with none, one and ten million as well. */
  readonly millions: number
}

const kinds: readonly Kind[] = ['uuidv7', 'random']
/** In millions. Keys without order take as long to fill in as they are slow to claim. */
const mostRandom = 10

export const growth: Suite<GrowthOptions> = {
  name: 'growth',
  about: 'claims in Postgres beside millions of records, and while old ones are removed',
  defaults: { rounds: 5, messages: 20_000, millions: 10 },
  quick: { rounds: 1, messages: 1_000, millions: 1 },

  async run({ rounds, messages, millions }, say) {
    // The server's default is made for machines with a few hundred MB; longer checkpoints only help the filling.
    const server = await startPostgres({ settings: { shared_buffers: '512MB', max_wal_size: '8GB' } })
    const sizes = [0, 1, 10, 50].filter((size) => size < millions).concat(millions)
    try {
      const grown = []
      for (const kind of kinds)
        for (const size of sizes.filter((each) => kind === 'uuidv7' || each <= mostRandom)) {
          say(`filling: ${size} million ${kind}`)
          grown.push(await openGrown(await server.createDatabase(`${kind}_${size}`), { kind, millions: size }))
        }
      const claimed = await interleaved(claimWays(grown, messages), rounds, say)
      const lines = await Promise.all(grown.filter(({ millions: size }) => size > 0).map(sizeLine))
      for (const { pool } of grown) await pool.end()

      say('filling: what is to be removed')
      const removal = await removalWays(await server.createDatabase('removal'), {
        rounds,
        millions: Math.min(millions, 10),
      })
      const removed = await interleaved(removal.ways, rounds, say)
      const longest = removal.longestMs()
      await removal.close()
      return {
        rows: [...claimed, ...removed],
        tables: [
          { title: 'Claims per second, by how many million records there are', lines: speedLines(claimed) },
          { title: 'Bytes of a record, that of a UUID under a name of 8 letters', lines: [sizeHead, ...lines] },
          { title: 'Claims per second while old records are removed', lines: removalLines(removed, longest) },
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

const sizeHead = ['records', 'table', 'index', 'all']

function speedLines(rows: readonly Row[]): Lines {
  return [
    ['name', 'per second', 'ratio', 'correct'],
    ...rows.map(({ name, perSecond, ratio, correct }) => [
      name,
      String(perSecond),
      ratio.toFixed(2),
      correct ? 'yes' : 'NO',
    ]),
  ]
}

function removalLines(rows: readonly Row[], longest: ReadonlyMap<string, number>): Lines {
  const [head, ...lines] = speedLines(rows)
  return [
    [...(head ?? []), 'longest claim of 50, ms', 'removed'],
    ...lines.map((line, index) => {
      const name = rows[index]?.name ?? ''
      return [...line, (longest.get(name) ?? 0).toFixed(0), String(longest.get(`${name}: removed`) ?? 0)]
    }),
  ]
}
