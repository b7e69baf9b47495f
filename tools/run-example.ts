import { readdirSync } from 'node:fs'
import { fromRoot } from './repo.ts'

const names = readdirSync(fromRoot('examples')).filter((name) => /^\d\d-/.test(name))
const wanted = process.argv[2]
const found = names.find((name) => wanted !== undefined && (name === wanted || name.startsWith(`${wanted}-`)))
if (found === undefined) {
  console.error(`npm run example <number>\n\n${names.join('\n')}`)
  process.exit(wanted === undefined ? 0 : 2)
}
await import(fromRoot(`examples/${found}/main.ts`))
