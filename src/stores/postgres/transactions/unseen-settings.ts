/** A Postgres pattern for functions that set something: `set_config(…)`, or a SET where a statement begins, even in a literal. */
export const setsSomething = `E'set_config|(^|[;'']|\\\\m(begin|then|else|loop))\\\\s*set\\\\s'`

const configs = /\bset_config\s*\(\s*'([\w.]+)'/gi
const sets = /(?:^|[;']|\b(?:begin|then|else|loop))\s*set\s+(?:local\s+|session\s+)?([\w.]+)/gi
const notSettings = new Set(['transaction', 'constraints', 'session', 'local'])

/** The settings that the text of a function or a block changes, as far as it names them. */
export function settingsIn(source: string): readonly string[] {
  const found = [configs, sets].flatMap((pattern) => [...source.matchAll(pattern)].map(([, name = '']) => named(name)))
  return [...new Set(found)].filter((name) => !notSettings.has(name)).sort()
}

/** Settings with a special spelling, and their real names. */
const spelled = new Map(Object.entries({ schema: 'search_path', time: 'timezone', names: 'client_encoding' }))

export function named(written: string): string {
  const name = written.toLowerCase()
  return spelled.get(name) ?? name
}
