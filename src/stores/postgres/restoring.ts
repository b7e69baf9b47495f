import type { Cell } from './cells.ts'

/** What the settings of an opening answer with, behind the epoch. */
const answered = [
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'justonce.is_open',
  'search_path',
  'role',
]

const plain = /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)?$/

/** Puts the settings of a transaction back to what they were at its opening, and others to the defaults of the connection. */
export function restoring(row: readonly Cell[] | undefined, names: readonly string[]): readonly string[] {
  const ours = answered.map((name, index) => `set_config('${name}', ${literal(row?.[index + 1] ?? '')}, true)`)
  const others = names.filter((name) => plain.test(name) && !answered.includes(name))
  return [`SELECT ${ours.join(', ')}`, ...others.map((name) => `SET LOCAL ${name} TO DEFAULT`)]
}

function literal(value: string): string {
  return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
