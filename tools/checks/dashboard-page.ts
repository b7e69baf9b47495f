import { readFileSync } from 'node:fs'
import { builtPagePath, renderPage } from '../build-page.ts'
import { fromRoot } from '../repo.ts'
import { nonEmptyLines, run } from '../run.ts'
import type { Check } from './check.ts'

/** The page is committed as it was built, so that a clone can serve it; it must be what its sources say. */
export function findStalePage(committed: string, built: string): string[] {
  return committed === built ? [] : [`${builtPagePath} is stale: run \`npm run dashboard-page\``]
}

export const dashboardPageCheck: Check = {
  name: 'dashboard-page',
  async run() {
    const types = await run(fromRoot('node_modules/.bin/tsc'), ['-p', 'src/dashboard/page', '--pretty', 'false'])
    const stale = findStalePage(readFileSync(fromRoot(builtPagePath), 'utf8'), await renderPage())
    return { problems: [...(types.ok ? [] : nonEmptyLines(types.output)), ...stale] }
  },
}
