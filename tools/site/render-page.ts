import { posix } from 'node:path'
import { Marked } from 'marked'
import { escaped, highlight } from './highlight.ts'
import { type SitePage, urlOf } from './pages.ts'
import { slugOf } from './slug.ts'

export interface Heading {
  readonly level: number
  readonly text: string
  readonly id: string
}

export interface RenderedPage {
  readonly html: string
  readonly headings: readonly Heading[]
}

/** Where the sources can be seen; undefined while nobody has said. Then paths to sources are shown without a link. */
export interface RenderOptions {
  readonly repository: string | undefined
  readonly isPage: (path: string) => boolean
}

/** The text of a page as HTML. Links to other pages lead to them on the site. */
export function renderPage(page: SitePage, { repository, isPage }: RenderOptions): RenderedPage {
  const headings: Heading[] = []
  const ids = new Map<string, number>()
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens)
        const text = plainText(html)
        const slug = slugOf(text)
        const count = ids.get(slug) ?? 0
        ids.set(slug, count + 1)
        const id = count === 0 ? slug : `${slug}-${count}`
        headings.push({ level: depth, text, id })
        const mark = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${id}">${html}${mark}</h${depth}>\n`
      },
      code({ text, lang = '' }) {
        const language = lang.split(/\s/)[0] ?? ''
        const file = /file=(\S+)/.exec(lang)?.[1]
        const title = file === undefined ? '' : `<figcaption>${escaped(file)}</figcaption>`
        return `<figure class="code">${title}<pre tabindex="0"><code>${highlight(text, language)}</code></pre></figure>\n`
      },
      table(token) {
        const row = (cells: typeof token.header, tag: string) =>
          `<tr>${cells.map(({ tokens, align }) => `<${tag}${align ? ` class="${align}"` : ''}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        const head = token.header.some(({ text }) => text.trim() !== '')
          ? `<thead>${row(token.header, 'th')}</thead>`
          : ''
        return `<div class="table" tabindex="0"><table>${head}<tbody>${token.rows.map((cells) => row(cells, 'td')).join('\n')}</tbody></table></div>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        if (/^\w+:|^#/.test(href)) return `<a href="${escaped(href)}">${text}</a>`
        const [file = '', anchor] = href.split('#')
        const path = posix.normalize(posix.join(posix.dirname(page.path), file))
        const readme = `${path.replace(/\/$/, '')}/README.md` // a link to a folder
        if (isPage(readme)) return `<a href="${relative(page.url, urlOf(readme))}">${text}</a>`
        if (isPage(path)) return `<a href="${relative(page.url, urlOf(path))}${anchor ? `#${anchor}` : ''}">${text}</a>`
        if (path.startsWith('docs/')) return `<a href="${relative(page.url, path.slice('docs/'.length))}">${text}</a>`
        if (repository !== undefined) return `<a href="${repository}/blob/main/${path}">${text}</a>`
        return `<span class="source" title="${escaped(path)}">${text}</span>`
      },
      image({ href, text }) {
        const path = posix.normalize(posix.join(posix.dirname(page.path), href)).replace(/^docs\//, '')
        return `<img src="${relative(page.url, path)}" alt="${escaped(text)}" loading="lazy">`
      },
    },
  })
  return { html: marked.parse(page.text) as string, headings }
}

export function relative(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to)
}

export function plainText(html: string): string {
  const text = html.replace(/<[^>]+>/g, '')
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
