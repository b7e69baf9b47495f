import { gcAndMeasure, type Memory } from './memory/measure.ts'
import type { Ground } from './stores/ground.ts'
import { openPostgres } from './stores/postgres.ts'
import { openSqlite } from './stores/sqlite.ts'
import type { BenchOptions, Suite } from './suite.ts'
import { prefetched } from './transfers/prefetched.ts'
import { isRight } from './transfers/tables.ts'
import { makeWorkload, type Workload } from './transfers/workload.ts'

/** One look at an app that goes on and on. */
interface MemoryRow extends Memory {
  readonly name: string
  /** Messages so far, without their duplicates. */
  readonly messages: number
  readonly correct: boolean
}

/** The messages themselves must not be what fills the memory. */
const chunkSize = 20_000

export const memory: Suite = {
  name: 'memory',
  about: 'the memory of one app that handles millions of messages, at its start, in the middle and at its end',
  defaults: { rounds: 1, messages: 2_000_000 },
  quick: { rounds: 1, messages: 2_000 },

  async run(options, say) {
    const rows: MemoryRow[] = []
    for (const open of [openSqlite, openPostgres]) {
      const ground = await open()
      try {
        say(ground.about)
        rows.push(...(await watch(ground, options, say)))
      } finally {
        await ground.close()
      }
    }
    const head = ['name', 'messages', 'resident MB', 'heap MB', 'correct']
    const lines = rows.map(({ name, messages, residentMb, heapMb, correct }) => {
      return [name, `${messages}`, residentMb.toFixed(1), heapMb.toFixed(1), correct ? 'yes' : 'NO']
    })
    return { rows: [], more: { memory: rows }, tables: [{ title: 'Memory of the process', lines: [head, ...lines] }] }
  },
}

async function watch(ground: Ground, { messages }: BenchOptions, say: (line: string) => void): Promise<MemoryRow[]> {
  await ground.empty()
  const source = prefetched()
  const app = await ground.startApp(source)
  const chunks = Math.ceil(messages / chunkSize)
  // Code and caches have their size only after some work.
  const looks = new Set([Math.ceil(chunks / 20), Math.ceil(chunks / 2), chunks])
  const rows: MemoryRow[] = []
  let so: Workload = { deliveries: [], messages: 0, amountOfMessages: 0, amountOfDeliveries: 0 }
  for (let chunk = 1; chunk <= chunks; chunk++) {
    const workload = makeWorkload({ messages: Math.min(chunkSize, messages - so.messages), seed: chunk })
    so = {
      ...so,
      messages: so.messages + workload.messages,
      amountOfMessages: so.amountOfMessages + workload.amountOfMessages,
    }
    await source.deliverAll(workload.deliveries)
    if (!looks.has(chunk)) continue
    const correct = isRight(await ground.look(), so, 'each-message-once')
    rows.push({ name: ground.name, messages: so.messages, ...(await gcAndMeasure()), correct })
    say(`  ${ground.name}: ${so.messages} messages`)
  }
  await app.stop()
  return rows
}
