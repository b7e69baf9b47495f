import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { alignColumns } from './align-columns.ts'
import { brokers } from './brokers.ts'
import { dashboardSuite } from './dashboard.ts'
import { failures } from './failures.ts'
import { growth } from './growth.ts'
import { heart } from './heart.ts'
import { memory } from './memory.ts'
import { network } from './network.ts'
import { observability } from './observability.ts'
import { outgoing } from './outgoing.ts'
import { peers, peerTrials } from './peers.ts'
import { stores } from './stores.ts'
import type { BenchOptions, Suite } from './suite.ts'

type Figure = number | readonly number[]
type Figures = BenchOptions & Record<string, Figure>

// Which figures a suite has is in its defaults, and no others are given to it.
const suites = [
  heart,
  network,
  failures,
  growth,
  memory,
  outgoing,
  observability,
  stores,
  brokers,
  peers,
  peerTrials,
  dashboardSuite,
] as unknown as readonly Suite<Figures>[]

const figures = [...new Set(suites.flatMap(({ defaults }) => Object.keys(defaults)))]
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean' },
    ...Object.fromEntries(figures.map((name) => [name, { type: 'string' as const }])),
  },
})
const suite = suites.find(({ name }) => name === positionals[0])
if (suite === undefined) {
  console.error('Usage: npm run bench -- SUITE [--json FILE] [--quick] [OPTIONS]\n')
  for (const { name, about, defaults } of suites) {
    const options = Object.entries(defaults).map(([option, value]) => `[--${option} ${value}]`)
    console.error(`  ${name}  ${about}\n    ${options.join(' ')}`)
  }
  process.exit(2)
}

const options: Figures = { ...(values.quick ? suite.quick : suite.defaults) }
for (const name of figures) {
  const text = (values as Record<string, unknown>)[name]
  if (typeof text === 'string') options[name] = figureIn(suite, name, text)
}
const given = Object.entries(options).map(([name, value]) => `${value} ${name}`)
console.log(`${suite.name}: ${suite.about}`)
console.log(`Node ${process.versions.node}, ${availableParallelism()} cores; ${given.join(', ')}`)
if (values.quick) console.log('A quick run: it shows that everything works, its figures say nothing.')
console.log()
const { rows, more = {}, tables, writePage } = await suite.run(options, (line) => console.log(line))
for (const { title, lines } of tables) console.log(`\n${title}\n\n${alignColumns(lines)}`)
if (!values.quick) writePage?.()
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ suite: suite.name, rows, ...more }, null, 2)}\n`)
const measured: readonly { readonly correct?: boolean }[] = [rows, ...Object.values(more)].flat()
if (measured.some(({ correct }) => correct === false)) process.exitCode = 1

function figureIn({ name, defaults }: Suite<Figures>, option: string, text: string): Figure {
  if (!(option in defaults)) return refuse(`--${option} is no option of ${name}.`)
  const isList = Array.isArray(defaults[option])
  if (isList && /^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(text)) return text.split(',').map(Number)
  if (!isList && /^[1-9]\d*$/.test(text)) return Number(text)
  const wanted = isList ? 'numbers with commas between them' : 'a whole number above 0'
  return refuse(`--${option} must be ${wanted}, not ${JSON.stringify(text)}.`)
}

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}
