import { type RepoFile, readRepoFiles } from '../repo.ts'

export interface SitePage extends RepoFile {
  /** Relative to the root of the site. */
  readonly url: string
  readonly title: string
  readonly language: string
}

export interface Section {
  readonly title: string
  readonly pages: readonly SitePage[]
}

/** What comes first in each section; other pages of its folders follow by name, so that no page is forgotten. */
const plan: readonly { title: string; folders: readonly string[]; first: readonly string[] }[] = [
  { title: 'Start', folders: [], first: ['README.md', 'docs/start.md'] },
  {
    title: 'Guides',
    folders: ['docs/guides/'],
    first: [
      'choosing',
      'semantics',
      'schemes',
      'migrating',
      'once',
      'identity',
      'failures',
      'outbox',
      'external-calls',
    ].map((name) => `docs/guides/${name}.md`),
  },
  { title: 'Examples', folders: ['examples/'], first: [] },
  { title: '中文', folders: ['docs/zh-CN/'], first: ['README.zh-CN.md', 'docs/zh-CN/start.md'] },
  {
    title: 'Drivers',
    folders: ['docs/drivers/'],
    first: ['postgres', 'mysql', 'sqlite', 'redis'].map((name) => `docs/drivers/${name}.md`),
  },
  { title: 'Operations', folders: ['docs/operations/'], first: ['docs/operations/production-checklist.md'] },
  {
    title: 'Reference',
    folders: ['docs/reference/'],
    first: ['features', 'guarantees', 'api', 'options', 'events', 'errors', 'command-line', 'glossary'].map(
      (name) => `docs/reference/${name}.md`,
    ),
  },
  { title: 'Benchmarks', folders: [], first: ['docs/benchmarks.md', 'docs/internals/benchmarks.md'] },
  {
    title: 'Internals',
    folders: ['docs/internals/', 'docs/'],
    first: ['CONTRIBUTING.md', 'CHANGELOG.md', 'docs/internals/architecture.md'],
  },
  { title: 'Decisions', folders: ['docs/decisions/'], first: [] },
]

const isPage = (path: string) =>
  /^(?:README|README\.zh-CN|CONTRIBUTING|CHANGELOG)\.md$|^(?:docs|examples)\/.*\.md$/.test(path)

export function readSections(files = readRepoFiles(isPage)): Section[] {
  const left = new Map(files.map((file) => [file.path, asPage(file)]))
  const take = (path: string): SitePage[] => {
    const page = left.get(path)
    left.delete(path)
    return page === undefined ? [] : [page]
  }
  const firsts = plan.map(({ first }) => first.flatMap(take))
  return plan.map(({ title, folders }, index) => {
    const others = [...left.keys()].filter((path) => folders.some((folder) => path.startsWith(folder)))
    return { title, pages: [...(firsts[index] ?? []), ...others.flatMap(take)] }
  })
}

function asPage(file: RepoFile): SitePage {
  const heading = /^# (.+)$/m.exec(file.text)?.[1] ?? file.path
  const isHome = file.path === 'README.md'
  return {
    ...file,
    url: urlOf(file.path),
    title: isHome ? 'justonce' : heading.replaceAll('`', ''),
    language: file.path.includes('zh-CN') ? 'zh-CN' : 'en',
  }
}

/** Where a file of the repository is on the site, if it is a page. */
export function urlOf(path: string): string {
  if (path === 'README.md') return 'index.html'
  if (path === 'README.zh-CN.md') return 'zh-CN/index.html'
  const below = path.replace(/^docs\//, '').replace(/\.md$/, '.html')
  return below.endsWith('README.html')
    ? below.replace('README.html', 'index.html')
    : below.toLowerCase().replace('zh-cn', 'zh-CN')
}
