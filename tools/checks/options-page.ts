import { existsSync, readFileSync } from 'node:fs'
import { optionsPagePath, renderOptionsPage } from '../generate-options-page.ts'
import { fromRoot } from '../repo.ts'
import type { Check } from './check.ts'

export const optionsPageCheck: Check = {
  name: 'options-page',
  async run() {
    const path = fromRoot(optionsPagePath)
    const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === renderOptionsPage()
    return { problems: isCurrent ? [] : [`${optionsPagePath} is stale: run \`npm run options-page\``] }
  },
}
