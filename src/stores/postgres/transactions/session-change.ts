import { sqlPieces } from '../../sql/sql-tokens.ts'
import { named, settingsIn } from './unseen-settings.ts'

/** What a statement changes in the session of the transaction. */
export interface SessionChange {
  /** What may not be done with a lent connection, as it appears in messages. */
  readonly refused?: string | undefined
  /** The changed settings, as far as they have a plain name. */
  readonly names: readonly string[]
}

const mayChange = /\b(?:set|reset|set_config|do)\b/i
/** These belong to the transaction or to a single statement. */
const ofTransaction = new Set(['TRANSACTION', 'CONSTRAINTS'])

/** `undefined` if the text shows no change. Changes inside functions are not detected. */
export function findSessionChange(sql: string): SessionChange | undefined {
  if (!mayChange.test(sql)) return undefined
  const names: string[] = []
  let refused: string | undefined
  let head: string[] = []
  const finish = (): void => {
    const found = changeIn(head)
    refused ??= found?.refused
    names.push(...(found?.names ?? []))
    head = []
  }
  for (const [token, text] of sqlPieces(sql)) {
    if (token === ';') finish()
    else head.push(text)
  }
  finish()
  return refused === undefined && names.length === 0 ? undefined : { refused, names }
}

function changeIn(head: readonly string[]): SessionChange | undefined {
  const [first = '', second = '', third = ''] = head.map((each) => each.toUpperCase())
  if (first === 'SET') {
    if (ofTransaction.has(second)) return undefined
    const isLocal = second === 'LOCAL'
    const from = isLocal || second === 'SESSION' ? 2 : 1
    const name = settingIn(head.slice(from))
    if (/^(?:CHARACTERISTICS|AUTHORIZATION)$/.test(third) || name === 'session')
      return { refused: 'SET SESSION …', names: [] }
    return isLocal ? { names: [name] } : { refused: `SET ${name} (SET LOCAL ends with the transaction)`, names: [] }
  }
  if (first === 'RESET')
    return second === 'ALL' ? { refused: 'RESET ALL', names: [] } : { names: [settingIn(head.slice(1))] }
  // A DO block is a function without a name.
  if (first === 'DO') return { names: settingsIn(head.slice(1).join(' ')) }
  return configIn(head)
}

/** `app.tenant` consists of three pieces. */
function settingIn(rest: readonly string[]): string {
  const [first = '', dot, second = ''] = rest
  return named(dot === '.' ? `${first}.${second}` : first)
}

/** `set_config('app.tenant', $1, true)`, anywhere in a statement. */
function configIn(pieces: readonly string[]): SessionChange | undefined {
  const names: string[] = []
  for (const [index, piece] of pieces.entries()) {
    if (piece.toLowerCase() !== 'set_config') continue
    const literal = /^'([\w.]+)'$/.exec(pieces[index + 2] ?? '')?.[1]
    const isKept = pieces.slice(index + 3, index + 12).some((each) => /^false$/i.test(each))
    if (isKept) return { refused: `set_config(…, false) of ${literal ?? 'a setting'}`, names: [] }
    names.push(literal?.toLowerCase() ?? '')
  }
  return names.length === 0 ? undefined : { names }
}
