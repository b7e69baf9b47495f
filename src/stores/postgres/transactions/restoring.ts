import type { Cell } from '../cells.ts'

/** What the settings of an opening answer with, behind the epoch; behind these come those that functions change. */
const answered = [
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'justonce.is_open',
  'search_path of the session',
  'search_path',
  'role',
]
/** These are ours, and local to the transaction. */
const ourOwn = [
  'search_path',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'justonce.is_open',
]

const plain = /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)*$/

/** The settings of a transaction as they were before anybody who works in it has changed them. */
export class SettingsBefore {
  readonly #values = new Map<string, Cell>()

  /** By what the opening has answered with. */
  opened(row: readonly Cell[] | undefined, unseen: readonly string[] = []): void {
    for (const [index, name] of [...answered, ...unseen].entries()) this.#values.set(name, row?.[index + 1] ?? null)
  }

  /** Asks for those that are about to be changed and not known yet; undefined: there are none. */
  look(names: readonly string[]): { readonly text: string; found(row: readonly Cell[]): void } | undefined {
    const unknown = names.filter((name) => plain.test(name) && !this.#values.has(name))
    if (unknown.length === 0) return undefined
    const found = (row: readonly Cell[]): void => {
      for (const [index, name] of unknown.entries()) this.#values.set(name, row[index] ?? null)
    }
    return { text: `SELECT ${unknown.map((name) => `current_setting('${name}', true)`).join(', ')}`, found }
  }

  /**
   * Puts all of it back. For the session, where it is not ours alone: a function, or a value that stands for `false`, may
   * have set it for longer than the transaction. The role comes first, because it decides what may be set.
   */
  restoring(names: readonly string[]): readonly string[] {
    const of = (name: string): Cell => this.#values.get(name) ?? null
    const ours = [
      `set_config('role', ${literal(of('role'))}, false)`,
      `set_config('search_path', ${literal(of('search_path of the session'))}, false)`,
      ...ourOwn.map((name) => `set_config('${name}', ${literal(of(name))}, true)`),
    ]
    const others = [...new Set([...names, ...this.#values.keys()])].filter(
      (name) => plain.test(name) && !answered.includes(name),
    )
    return [`SELECT ${ours.join(', ')}`, ...others.flatMap((name) => this.#puttingBack(name))]
  }

  #puttingBack(name: string): readonly string[] {
    if (!this.#values.has(name)) return [`SET LOCAL ${name} TO DEFAULT`]
    const value = this.#values.get(name) ?? null
    // One that nobody has ever set is empty afterwards. Without a dot in its name there is none of that name.
    if (value === null && !name.includes('.')) return []
    return [
      `SELECT set_config('${name}', ${literal(value)}, false)
       WHERE coalesce(current_setting('${name}', true), '') <> ${literal(value)}`,
    ]
  }
}

function literal(value: Cell): string {
  return `E'${(value ?? '').replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
