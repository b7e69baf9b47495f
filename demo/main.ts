import { randomInt } from 'node:crypto'
import { BrokerMissing, type BrokerName, type BrokerServer, brokerNames, findBrokerServer } from './broker-server.ts'
import type { CrewOptions } from './crew.ts'
import { openDashboard } from './dashboard.ts'
import { FlagError, type Flags, readFlags, usage } from './flags.ts'
import { keepGoing } from './keep-going.ts'
import { describePlace, type Places, preparePlaces } from './place.ts'
import { makePlan, type Plan } from './plan.ts'
import { introduction, table, verdict } from './report.ts'
import { openScreen } from './screen.ts'
import { Side } from './side.ts'
import { figuresOf, isExact, type Tally } from './tally.ts'
import { paint } from './wording.ts'

const colours = paint(process.stdout.isTTY === true && !process.env.NO_COLOR)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The second time nobody wants to wait for a tidy end.
  process.on(signal, () => (stopping.signal.aborted ? process.exit(130) : stopping.abort()))
}
// Nobody reads on, as with `| head`: then there is nothing left to show.
process.stdout.on('error', () => stopping.abort())

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const flags = readFlags(args, randomInt(1_000_000))
    if (flags.help) console.log(usage)
    return flags.help ? 0 : await demonstrate(flags)
  } catch (error) {
    if (stopping.signal.aborted) return 130
    console.error(reasonOf(error))
    if (error instanceof BrokerMissing) return 2
    if (!(error instanceof FlagError)) return 1
    console.error('`npm start -- --help` lists the flags.')
    return 2
  }
}

async function demonstrate(flags: Flags): Promise<number> {
  const startBroker = flags.broker && (await findBrokerServer(flags.broker))
  const plan = makePlan(flags)
  console.log(`\n${introduction(plan, flags, colours)}\n`)
  if (startBroker === undefined) return await compare(flags, plan)
  console.log(`  Starting ${brokerNames[flags.broker as BrokerName]} …\n`)
  const server = await startBroker()
  try {
    return await compare(flags, plan, server)
  } finally {
    await server.stop()
  }
}

async function compare(flags: Flags, plan: Plan, server?: BrokerServer): Promise<number> {
  const places = await preparePlaces(flags.postgres)
  const board = isWatched(flags) ? await openDashboard(places.justonce) : undefined
  if (board !== undefined) console.log(`  Watch it live: ${colours.strong(board.url)}\n`)
  try {
    const crew = (side: 'justonce' | 'naive'): CrewOptions => ({
      program: `worker-${side}.ts`,
      place: { bank: places[side], broker: server?.placeOf(side) ?? { kind: 'queue' } },
      size: flags.workers,
      compileCache: places.compileCache,
    })
    const sides = [new Side('justonce', plan, crew('justonce')), new Side('naive', plan, crew('naive'))] as const
    const [justonce, naive] = await runTogether(sides, flags.kills)
    console.log(`\n${table(justonce, naive, colours)}\n`)
    console.log(`${verdict('justonce', justonce, colours)}\n\n${verdict('naive', naive, colours)}\n`)
    console.log(`  For the same payments, copies and kills again: npm start -- ${repetition(flags)}\n`)
    if (flags.keep) printPlaces(places)
    if (flags.json) console.log(JSON.stringify({ justonce: figuresOf(justonce), naive: figuresOf(naive) }))
    if (board !== undefined) {
      console.log(`  The dashboard stays open: ${colours.strong(board.url)}`)
      console.log('  Payments keep coming, and a worker is killed now and then. Ctrl-C ends it.\n')
      await keepGoing(crew('justonce'), stopping.signal)
    }
    return isExact(justonce) ? 0 : 1
  } finally {
    await board?.close()
    await places.remove(flags.keep).catch((error) => console.error(`Not everything was removed: ${reasonOf(error)}`))
  }
}

/** Somebody is there to look: a pipe, a script and a CI want the table and the end. */
function isWatched({ exit, json }: Flags): boolean {
  return process.stdout.isTTY === true && !exit && !json && !process.env.CI
}

async function runTogether(sides: readonly [Side, Side], kills: number): Promise<[Tally, Tally]> {
  const screen = openScreen(process.stdout, kills)
  const drawing = setInterval(() => screen.draw(sides), 100)
  const failing = new AbortController()
  const signal = AbortSignal.any([stopping.signal, failing.signal])
  const run = (side: Side): Promise<Tally> =>
    side.run(signal).catch((error) => {
      // Without one of the sides there is nothing to compare.
      failing.abort()
      throw error
    })
  try {
    const results = await Promise.allSettled([run(sides[0]), run(sides[1])])
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (reasons.length > 0) throw reasons.find((reason) => reason?.name !== 'AbortError') ?? reasons[0]
    return results.map((result) => (result as PromiseFulfilledResult<Tally>).value) as [Tally, Tally]
  } finally {
    clearInterval(drawing)
    screen.end(sides)
  }
}

/** The flags that bring the same payments, copies and kills in the same way. */
function repetition({ seed, broker }: Flags): string {
  return broker === undefined ? `--seed ${seed}` : `--broker ${broker} --seed ${seed}`
}

function printPlaces({ justonce, naive }: Places): void {
  console.log(`  Kept: ${describePlace(justonce)}\n        ${describePlace(naive)}\n`)
}

/** A refused connection has a code, but sometimes no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { readonly message?: string; readonly code?: string }
  return message || code || String(error)
}
