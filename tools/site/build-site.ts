import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fromRoot, listRepoPaths, readRepoJson } from '../repo.ts'
import { layout } from './layout.ts'
import { readSections, type Section } from './pages.ts'
import { renderPage } from './render-page.ts'
import { searchEntries } from './search-index.ts'

export type Site = Map<string, string | Uint8Array>

const assets = ['style.css', 'site.js', 'theme.js']

/** Every file of the site, by its path. It is made of the pages of the repository; there is no second copy of them. */
export function renderSite(sections: readonly Section[] = readSections()): Site {
  const pages = sections.flatMap(({ pages }) => pages)
  const paths = new Set(pages.map(({ path }) => path))
  const options = { repository: repositoryAddress(), isPage: (path: string) => paths.has(path) }
  const rendered = pages.map((page) => ({ page, rendered: renderPage(page, options) }))
  const site: Site = new Map()
  for (const { page, rendered: text } of rendered) site.set(page.url, layout(page, text, sections))
  const entries = rendered.flatMap(({ page, rendered: text }) => searchEntries(page, text))
  site.set('assets/search.js', `window.searchEntries = ${JSON.stringify(entries).replaceAll('<', '\\u003c')}\n`)
  for (const name of assets) site.set(`assets/${name}`, readFileSync(join(import.meta.dirname, 'assets', name)))
  for (const path of listRepoPaths())
    if (/^docs\/.*\.(?:png|svg|json|yml)$/.test(path))
      site.set(path.slice('docs/'.length), readFileSync(fromRoot(path)))
  return site
}

/** Undefined while package.json does not say where the sources are. */
function repositoryAddress(): string | undefined {
  const { repository } = readRepoJson<{ repository?: string | { url?: string } }>('package.json')
  const url = typeof repository === 'string' ? repository : repository?.url
  return url?.replace(/^git\+/, '').replace(/\.git$/, '')
}

export function writeSite(folder: string, site: Site): void {
  rmSync(folder, { recursive: true, force: true })
  for (const [path, content] of site) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
