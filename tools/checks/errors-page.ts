import { existsSync, readFileSync } from 'node:fs'
import { type Catalog, catalogPath, errorsPagePath, loadCatalog, renderErrorsPage } from '../generate-errors-page.ts'
import { fromRoot } from '../repo.ts'
import type { Check } from './check.ts'

export function findStaleErrorsPage(catalog: Catalog, page: string | undefined): string[] {
  if (page === renderErrorsPage(catalog)) return []
  const state = page === undefined ? 'is missing' : 'is stale'
  return [`${errorsPagePath} ${state}: run \`npm run errors-page\``]
}

export const errorsPageCheck: Check = {
  name: 'errors-page',
  async run() {
    if (!existsSync(fromRoot(catalogPath))) return { problems: [], skipped: `${catalogPath} is not there yet` }
    const path = fromRoot(errorsPagePath)
    const page = existsSync(path) ? readFileSync(path, 'utf8') : undefined
    return { problems: findStaleErrorsPage(await loadCatalog(), page) }
  },
}
