import { expect, test } from 'vitest'
import { findBrokenSiteLinks } from '../../tools/checks/site.ts'
import { renderSite } from '../../tools/site/build-site.ts'
import { highlight } from '../../tools/site/highlight.ts'
import { readSections } from '../../tools/site/pages.ts'

const file = (path: string, text: string) => ({ path, text })
const files = [
  file('README.md', '# justonce\n\n[start](docs/start.md#go-on) [code](src/index.ts) ![p](docs/picture.png)'),
  file('docs/start.md', '# Start\n\n## Go on\n\n[home](../README.md)\n\n```ts\nconst a = "<b>" // c\n```'),
  file('README.zh-CN.md', '# justonce\n\n## 安装\n\n[here](#安装) [English](README.md)'),
  file('examples/README.md', '# Examples\n\n[one](01-one)'),
  file('examples/01-one/README.md', '# One'),
  file('docs/guides/new.md', '# A page that nobody has listed'),
]
const site = renderSite(readSections(files))
const html = (url: string) => String(site.get(url))

test('every page is on the site, also one that nobody has listed', () => {
  expect([...site.keys()]).toEqual(
    expect.arrayContaining(['index.html', 'start.html', 'zh-CN/index.html', 'guides/new.html']),
  )
  expect(html('index.html')).toContain('A page that nobody has listed')
})

test('links lead to pages of the site, and sources are named', () => {
  expect(html('index.html')).toContain('href="start.html#go-on"')
  expect(html('start.html')).toContain('href="index.html"')
  expect(html('examples/index.html')).toContain('href="01-one/index.html"')
  expect(html('index.html')).toContain('title="src/index.ts"')
  expect(html('index.html')).toContain('src="picture.png"')
})

test('a link that leads nowhere is reported', () => {
  const broken = new Map([
    ['index.html', '<a href="gone.html">a</a> <a href="start.html#gone">b</a> <a href="start.html#here">c</a>'],
    ['start.html', '<h2 id="here">x</h2> <a href="https://example.org">d</a>'],
  ])
  expect(findBrokenSiteLinks(broken)).toEqual([expect.stringContaining('gone.html'), expect.stringContaining('#gone')])
})

test('code is coloured and never becomes HTML', () => {
  expect(highlight('const a = "<b>" // c', 'ts')).toBe(
    '<i class="k">const</i> a = <i class="s">&quot;&lt;b&gt;&quot;</i> <i class="c">// c</i>',
  )
  expect(highlight('<script>', 'text')).toBe('&lt;script&gt;')
})

test('the parts of all pages can be found, also in Chinese', () => {
  const index = html('assets/search.js')
  expect(index).toContain('["Go on","Start","start.html#go-on"')
  expect(index).toContain('安装')
})
