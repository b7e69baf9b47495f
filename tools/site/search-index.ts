import type { SitePage } from './pages.ts'
import { plainText, type RenderedPage } from './render-page.ts'

/** One entry for each part of a page: its title, its page, where it is, and how it begins. */
export type SearchEntry = readonly [heading: string, page: string, url: string, text: string]

const mostText = 500
/** Names of members are looked for, however far down they are. */
const mostNames = 1_500

export function searchEntries(page: SitePage, { html }: RenderedPage): SearchEntry[] {
  const parts = html.split(/(?=<h[1-4] id=")/)
  return parts.flatMap((part): SearchEntry[] => {
    const [whole = '', level, id = '', heading = ''] = /^<h([1-4]) id="([^"]*)">([\s\S]*?)<\/h\1>/.exec(part) ?? []
    if (level === undefined) return []
    const title = plainText(heading.replace(/<a class="anchor"[\s\S]*$/, '')).trim()
    const body = part.slice(whole.length).replace(/<figure[\s\S]*?<\/figure>/g, ' ')
    const text = plainText(body.replace(/<\/(?:td|th|li|p)>/g, '$& '))
      .replace(/\s+/g, ' ')
      .trim()
    const url = level === '1' ? page.url : `${page.url}#${id}`
    return [[title, page.title, url, `${text.slice(0, mostText)} ${namesIn(body, text.slice(0, mostText))}`.trim()]]
  })
}

/** The first word of each piece of code that the text so far does not have. */
function namesIn(html: string, text: string): string {
  const names = [...html.matchAll(/<code>([A-Za-z_]\w+)/g)].map(([, name = '']) => name)
  return [...new Set(names)]
    .filter((name) => !text.includes(name))
    .join(' ')
    .slice(0, mostNames)
}
