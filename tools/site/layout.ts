import { escaped } from './highlight.ts'
import type { Section, SitePage } from './pages.ts'
import { type RenderedPage, relative } from './render-page.ts'

/** A page of the site around its text: what there is, how to search it, what is on this page. */
export function layout(page: SitePage, { html, headings }: RenderedPage, sections: readonly Section[]): string {
  const to = (url: string) => relative(page.url, url)
  const title = page.url === 'index.html' ? 'justonce' : `${page.title} · justonce`
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${to('assets/style.css')}">
<script src="${to('assets/theme.js')}"></script>
<script src="${to('assets/site.js')}" defer data-root="${to('index.html').replace(/index\.html$/, '')}"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<button id="menu" aria-expanded="false" aria-controls="nav" aria-label="Pages">☰</button>
<a class="home" href="${to('index.html')}">justonce</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" aria-controls="found">
<div id="found" hidden></div>
</div>
<button id="theme" aria-label="Light or dark">◐</button>
</header>
<nav id="nav" aria-label="Pages">
${sections.map((section) => navigation(section, page, to)).join('\n')}
</nav>
<main id="text">
${html}
</main>
${contents(headings)}
</body>
</html>
`
}

function navigation({ title, pages }: Section, current: SitePage, to: (url: string) => string): string {
  const isOpen = title === 'Start' || title === 'Guides' || pages.includes(current)
  const items = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${to(page.url)}" lang="${page.language}"${mark}>${escaped(page.title)}</a></li>`
  })
  return `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary><ul>${items.join('')}</ul></details>`
}

function contents(headings: RenderedPage['headings']): string {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < 2) return ''
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`)
  return `<aside aria-label="On this page"><ul>${items.join('')}</ul></aside>`
}
