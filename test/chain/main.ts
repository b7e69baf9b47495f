import { parseArgs } from 'node:util'
import { runChain } from './chain.ts'
import { type PlaceName, places } from './places.ts'

const usage = `npm run chain -- [--place ${Object.keys(places)
  .map((name) => `'${name}'`)
  .join('|')}|all] [--messages 2000] [--strikes 60] [--processes 2] [--seed N]`

const { values } = parseArgs({
  options: {
    place: { type: 'string', default: 'all' },
    messages: { type: 'string', default: '2000' },
    strikes: { type: 'string', default: '60' },
    processes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const wanted = (Object.keys(places) as PlaceName[]).filter((name) => values.place === 'all' || values.place === name)
const [messages, strikes, processes, seed] = [values.messages, values.strikes, values.processes, values.seed].map(
  Number,
) as [number, number, number, number]
if (values.help || wanted.length === 0 || ![messages, strikes, processes, seed].every(Number.isInteger)) {
  console.error(usage)
  process.exit(values.help ? 0 : 2)
}
console.log(`seed ${seed}`)
for (const place of wanted) {
  const say = (line: string) => process.stderr.write(`${place}: ${line}\n`)
  const { sent, killed, wrong } = await runChain({ place, messages, strikes, processes, seed, say })
  console.log(`${place}: ${sent} messages, killed: ${JSON.stringify(killed)}, wrong: ${wrong.length}`)
  for (const line of wrong.slice(0, 20)) console.log(`  ${line}`)
  if (wrong.length > 0) process.exitCode = 1
}
