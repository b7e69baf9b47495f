import type { Token } from './statement-tokens.ts'

export interface Assignment {
  /** The name of the system variable, in upper case. */
  readonly name: string
  readonly scope: 'session' | 'global'
}

const scopes: Readonly<Record<string, Assignment['scope']>> = {
  SESSION: 'session',
  LOCAL: 'session',
  GLOBAL: 'global',
  PERSIST: 'global',
  PERSIST_ONLY: 'global',
}

const characterSets = [
  'CHARACTER_SET_CLIENT',
  'CHARACTER_SET_CONNECTION',
  'CHARACTER_SET_RESULTS',
  'COLLATION_CONNECTION',
]

/** The system variables that `SET …` assigns to; user variables are ignored. */
export function assignmentsIn(statement: readonly Token[]): Assignment[] {
  const found: Assignment[] = []
  let scope: Assignment['scope'] = 'session'
  for (const part of partsOf(statement.slice(1))) {
    const { names, isVariable, isUsers } = targetOf(part)
    if (isUsers) continue
    const [first = '', second = ''] = names
    // `SET GLOBAL a = 1, b = 2`: the scope also applies to the assignments after it.
    if (!isVariable && scopes[first] !== undefined) scope = scopes[first]
    const named = scopes[first] === undefined ? first : second
    const of = isVariable ? (scopes[first] ?? 'session') : scope
    if (named === 'NAMES' || named === 'CHARSET' || (named === 'CHARACTER' && names.includes('SET')))
      found.push(...characterSets.map((name) => ({ name, scope: of })))
    else if (named === 'TRANSACTION')
      found.push(...['TX_ISOLATION', 'TX_READ_ONLY'].map((name) => ({ name, scope: of })))
    else if (named !== '') found.push({ name: named, scope: of })
  }
  return found
}

/** The statement inside `SET STATEMENT … FOR`. A FOR in parentheses belongs to a value: `SUBSTRING('a' FROM 1 FOR 1)`. */
export function innerStatement(statement: readonly Token[]): readonly Token[] {
  let depth = 0
  const at = statement.findIndex(({ kind, text, word }) => {
    if (kind === 'mark' && text === '(') depth++
    if (kind === 'mark' && text === ')') depth--
    return word === 'FOR' && depth === 0
  })
  return at < 0 ? [] : statement.slice(at + 1)
}

/** Splits at the commas outside parentheses. */
function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    const mark = token.kind === 'mark' ? token.text : ''
    if (mark === '(') depth++
    if (mark === ')') depth--
    if (mark === ',' && depth === 0) parts.push([])
    else (parts.at(-1) as Token[]).push(token)
  }
  return parts
}

interface Target {
  readonly names: readonly string[]
  /** Written as `@@name`. */
  readonly isVariable: boolean
  /** Written as `@name`. */
  readonly isUsers: boolean
}

/** The part before the `=`. */
function targetOf(part: readonly Token[]): Target {
  const end = part.findIndex(({ kind, text }) => kind === 'mark' && (text === '=' || text === ':'))
  const target = end < 0 ? part : part.slice(0, end)
  const ats = target.filter(({ kind, text }) => kind === 'mark' && text === '@').length
  const names = target.filter(({ kind }) => kind !== 'mark').map(({ text }) => text.toUpperCase())
  return { names, isVariable: ats === 2, isUsers: ats === 1 }
}
