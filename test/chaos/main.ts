import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runChaos } from './chaos.ts'
import { acknowledgings, type StoreName, whyNoPlace } from './place.ts'
import { report } from './report.ts'
import { type ChaosResult, isUnharmed } from './result.ts'

const usage = `npm run chaos -- [--minutes 5] [--store sqlite|postgres|mysql|redis|all] [--processes 3] [--rate 50] [--seed N] [--json FILE]

The minutes are shared by all the places it happens at. Ctrl-C ends it early, with the result so far.`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    store: { type: 'string', default: 'all' },
    processes: { type: 'string', default: '3' },
    rate: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const processes = Number(values.processes)
const rate = Number(values.rate)
const seed = Number(values.seed)
const isMeant = minutes > 0 && Number.isInteger(processes) && processes > 0 && rate > 0 && Number.isInteger(seed)
const known = Object.keys(acknowledgings) as StoreName[]
const wanted = values.store === 'all' ? known : known.filter((store) => store === values.store)
if (values.help || wanted.length === 0 || !isMeant) {
  console.error(usage)
  process.exit(values.help ? 0 : 2)
}

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
const results: ChaosResult[] = []
const places = (await possible(wanted)).flatMap((store) =>
  acknowledgings[store].map((acknowledging) => ({ store, acknowledging })),
)
console.log(`seed ${seed}, ${processes} processes, ${rate} messages a second`)
for (const place of places) {
  if (interrupted.signal.aborted) break
  results.push(
    await runChaos({
      ...place,
      durationMs: (minutes * 60_000) / places.length,
      processes,
      rate,
      seed,
      signal: interrupted.signal,
      say: (line) => process.stderr.write(`${line}\n`),
    }),
  )
}
console.log(`\n${report(results)}`)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ seed, processes, rate, results }, null, 2)}\n`)
const unharmed = results.length > 0 && results.every(isUnharmed)
console.log(unharmed ? '\nEvery message took effect exactly once.' : '\nThe promise was broken.')
process.exitCode = unharmed ? 0 : 1

async function possible(stores: readonly StoreName[]): Promise<StoreName[]> {
  const here: StoreName[] = []
  for (const store of stores) {
    const reason = await whyNoPlace(store)
    if (reason === undefined) here.push(store)
    else console.error(`SKIPPED: ${store}: ${reason}`)
  }
  return here
}
