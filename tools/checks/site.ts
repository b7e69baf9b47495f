import { posix } from 'node:path'
import { renderSite, type Site } from '../site/build-site.ts'
import type { Check } from './check.ts'

/** Every link of the site leads to a file of the site, and to a place in it that exists. */
export function findBrokenSiteLinks(site: Site): string[] {
  const places = new Map(
    [...site].map(([path, content]) => [path, typeof content === 'string' ? idsOf(content) : undefined]),
  )
  return [...site].flatMap(([path, content]) => {
    if (typeof content !== 'string' || !path.endsWith('.html')) return []
    const links = new Set([...content.matchAll(/ (?:href|src)="(?!\w+:)([^"]*)"/g)].map(([, link = '']) => link))
    return [...links].flatMap((link) => {
      const [file = '', id] = link.split('#')
      const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file))
      if (!places.has(target)) return [`${path} of the site leads to ${target}, which it does not have`]
      if (id === undefined || places.get(target)?.has(decodeURIComponent(id))) return []
      return [`${path} of the site leads to #${id} of ${target}, which is not there`]
    })
  })
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id))
}

export const siteCheck: Check = {
  name: 'site',
  async run() {
    return { problems: findBrokenSiteLinks(renderSite()) }
  },
}
