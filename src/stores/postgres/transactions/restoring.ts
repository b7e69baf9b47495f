import type { Cell } from '../values-as-text.ts'

/** The settings that an opening returns after the epoch. The settings that functions change come after these. */
const answered = [
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'justonce.is_open',
  'client_encoding',
  'search_path of the session',
  'search_path',
  'role',
]
/** Our own settings, local to the transaction. */
const ourOwn = [
  'search_path',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'justonce.is_open',
  'client_encoding',
]

const plain = /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)*$/

/** The settings of a transaction before anyone who works in it has changed them. */
export class SettingsBefore {
  readonly #known = new Map<string, Cell>()
  #unread: { readonly row: readonly Cell[] | undefined; readonly unseen: readonly string[] } | undefined

  /** Takes the values from the answer to the opening. They are read only when somebody changes a setting. */
  opened(row: readonly Cell[] | undefined, unseen: readonly string[] = []): void {
    this.#unread = { row, unseen }
  }

  get #values(): Map<string, Cell> {
    if (this.#unread === undefined) return this.#known
    const { row, unseen } = this.#unread
    this.#unread = undefined
    for (const [index, name] of [...answered, ...unseen].entries()) this.#known.set(name, row?.[index + 1] ?? null)
    return this.#known
  }

  /** A query for the settings that are about to be changed and not known yet; `undefined` if there are none. */
  look(names: readonly string[]): { readonly text: string; found(row: readonly Cell[]): void } | undefined {
    const unknown = names.filter((name) => plain.test(name) && !this.#values.has(name))
    if (unknown.length === 0) return undefined
    const found = (row: readonly Cell[]): void => {
      for (const [index, name] of unknown.entries()) this.#values.set(name, row[index] ?? null)
    }
    return { text: `SELECT ${unknown.map((name) => `current_setting('${name}', true)`).join(', ')}`, found }
  }

  /**
   * Restores everything. Settings that are not ours alone are restored for the session, because a function, or a value that
   * means `false`, may have set them for longer than the transaction. The role comes first, because it decides what may be
   * set.
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
    // A setting that was never set is empty afterwards. Without a dot in its name, no such setting exists.
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
