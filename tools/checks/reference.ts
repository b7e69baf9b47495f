import { existsSync, readFileSync } from 'node:fs'
import { readPackageExports } from '../package-exports.ts'
import { type PublicModule, readPublicModules } from '../reference/public-symbols.ts'
import { eventKinds } from '../reference/render-events.ts'
import { referenceFolder, renderReference } from '../reference/render-reference.ts'
import { fromRoot, listRepoPaths } from '../repo.ts'
import type { Check } from './check.ts'

/** Whatever can be imported has a comment; so has each option that it takes. */
export function findUndocumented(modules: readonly PublicModule[]): string[] {
  const problems = modules.flatMap(({ name: module, symbols }) =>
    symbols.flatMap(({ name, file, doc, members }) => {
      const isOptions = name.endsWith('Options') && !file.endsWith('/client-shapes.ts') // those are the clients' own
      const silent = isOptions ? members.filter((member) => member.doc === '') : []
      return [
        ...(doc === '' ? [`${file}: ${name} of ${module} has no comment that says what it is`] : []),
        ...silent.map((member) => `${file}: ${name} does not say what ${member.name} means`),
      ]
    }),
  )
  return [...new Set(problems)]
}

/** Every kind of event says when it happens. */
export function findSilentEvents(modules: readonly PublicModule[]): string[] {
  const events = modules.flatMap(({ symbols }) => symbols).find(({ name }) => name === 'JustonceEvent')
  const silent = eventKinds(events?.declaration ?? '').filter(({ text }) => text === '')
  return silent.map(({ kind }) => `${events?.file}: the event ${kind} does not say when it happens`)
}

export function findStalePages(
  wanted: ReadonlyMap<string, string>,
  read: (path: string) => string | undefined,
  existing: readonly string[],
): string[] {
  const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path)
  const extra = existing.filter((path) => !wanted.has(path))
  return [...stale, ...extra].map((path) => `${path} is stale: run \`npm run reference\``)
}

export const referenceCheck: Check = {
  name: 'reference',
  async run() {
    const modules = readPublicModules(readPackageExports())
    const existing = listRepoPaths().filter((path) => path.startsWith(`${referenceFolder}/`))
    const read = (path: string) => (existsSync(fromRoot(path)) ? readFileSync(fromRoot(path), 'utf8') : undefined)
    return {
      problems: [
        ...findUndocumented(modules),
        ...findSilentEvents(modules),
        ...findStalePages(renderReference(modules), read, existing),
      ],
    }
  },
}
