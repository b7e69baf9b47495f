import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fromRoot } from './repo.ts'

export const errorsPagePath = 'docs/reference/errors.md'
export const catalogPath = 'src/errors/catalog.ts'

export type Catalog = Record<string, { title: string; fix: string }>

export function renderErrorsPage(catalog: Catalog): string {
  const sections = Object.entries(catalog).map(
    ([code, { title, fix }]) => `## ${code}\n\n${asText(title)}.\n\n**Fix:** ${asText(fix)}\n`,
  )
  return [
    '# Errors\n',
    `<!-- Generated from src/errors/*-catalog.ts by tools/generate-errors-page.ts; edit those, not this page. -->\n`,
    'Every error is a [`JustonceError`](api/justonce.md#class-justonceerror); its `code` is one of these, and its `page` leads to its section.\n',
    ...sections,
  ].join('\n')
}

/** Names such as __proto__ must not turn into bold text. */
function asText(sentence: string): string {
  return sentence.replace(/[\\*_<[\]]/g, '\\$&')
}

export async function loadCatalog(): Promise<Catalog> {
  const module = (await import(pathToFileURL(fromRoot(catalogPath)).href)) as { catalog: Catalog }
  return module.catalog
}

if (import.meta.main) {
  mkdirSync(dirname(fromRoot(errorsPagePath)), { recursive: true })
  writeFileSync(fromRoot(errorsPagePath), renderErrorsPage(await loadCatalog()))
}
