import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { alignColumns } from './align-columns.ts'
import { heart } from './heart.ts'
import type { BenchOptions, Suite } from './suite.ts'

const suites: readonly Suite[] = [heart]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, rounds: { type: 'string' }, messages: { type: 'string' } },
})
const suite = suites.find(({ name }) => name === positionals[0])
if (suite === undefined) {
  console.error('Usage: npm run bench -- SUITE [--json FILE] [--rounds N] [--messages N]\n')
  for (const { name, about } of suites) console.error(`  ${name}  ${about}`)
  process.exit(2)
}

const options: BenchOptions = {
  rounds: positiveInteger('rounds', values.rounds) ?? suite.defaults.rounds,
  messages: positiveInteger('messages', values.messages) ?? suite.defaults.messages,
}
console.log(`${suite.name}: ${suite.about}`)
console.log(
  `Node ${process.versions.node}, ${availableParallelism()} cores; ${options.rounds} rounds, ${options.messages} messages each\n`,
)
const { rows, tables } = await suite.run(options, (line) => console.log(line))
for (const { title, lines } of tables) console.log(`\n${title}\n\n${alignColumns(lines)}`)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ suite: suite.name, rows }, null, 2)}\n`)
if (!rows.every(({ correct }) => correct)) process.exitCode = 1

function positiveInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  console.error(`--${name} must be a whole number above 0, not ${JSON.stringify(text)}.`)
  process.exit(2)
}
