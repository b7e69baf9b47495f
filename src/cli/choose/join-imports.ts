/** One line for each module. */
export function joined(imports: readonly string[]): readonly string[] {
  const named = new Map<string, Set<string>>()
  const others = new Set<string>()
  for (const line of imports) {
    const [, names, from = ''] = /^import \{ (.*) \} from '(.*)'$/.exec(line) ?? []
    if (names === undefined) others.add(line)
    else named.set(from, new Set([...(named.get(from) ?? []), ...names.split(', ')]))
  }
  const lines = [...named].map(([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}'`)
  return [...others, ...lines].sort((a, b) => (fromOf(a) < fromOf(b) ? -1 : 1))
}

function fromOf(line: string): string {
  return /'(.*)'/.exec(line)?.[1] ?? ''
}
