import { sqlPieces } from './sql-tokens.ts'

const mayBeOne = /\b(?:savepoint|release|rollback)\b/i

/** A false positive only costs a closer look. */
export function mayUseSavepoint(sql: unknown): boolean {
  return typeof sql === 'string' && mayBeOne.test(sql)
}

/** Whether the text makes, releases or rolls back to a savepoint. */
export function usesSavepoint(sql: string): boolean {
  return mayUseSavepoint(sql) && !savepointCalls(sql).next().done
}

interface SavepointCall {
  readonly kind: 'make' | 'release' | 'undo'
  /** As it was written; empty if it cannot be read. */
  readonly name: string
}

export interface SavepointRules {
  /** Whether a new savepoint replaces an earlier one of the same name (MySQL) instead of temporarily hiding it. */
  readonly sameNameReplaces: boolean
}

/**
 * The savepoints of one borrower, read from the texts of its statements. All borrowers of a transaction share one stack of
 * savepoints. The name of an earlier borrower's savepoint, or of one of ours, would still work, and would roll back the work
 * of others.
 */
export class Savepoints {
  readonly #rules: SavepointRules
  #open: string[] = []

  constructor(rules: SavepointRules) {
    this.#rules = rules
  }

  /** Records what the statement does and returns `undefined`, or returns what is forbidden in it and records nothing. */
  foreign(sql: string): string | undefined {
    if (!mayUseSavepoint(sql)) return undefined
    let open = this.#open
    for (const call of savepointCalls(sql)) {
      const next = this.#after(open, call)
      if (next === undefined) return `${verbs[call.kind]} ${call.name}, which is not a savepoint of its own,`
      open = next
    }
    this.#open = open
    return undefined
  }

  /** The statements that release the savepoints still open. They roll nothing back. */
  get left(): readonly string[] {
    const [first] = this.#open
    if (first === undefined) return []
    // Releasing a savepoint also releases those above it, but a name refers to the innermost savepoint with that name.
    return this.#open.filter((name) => isSame(name, first)).map(() => `RELEASE SAVEPOINT ${first}`)
  }

  #after(open: readonly string[], { kind, name }: SavepointCall): string[] | undefined {
    if (name === '') return undefined
    if (kind === 'make') {
      const rest = this.#rules.sameNameReplaces ? open.filter((other) => !isSame(other, name)) : open
      return [...rest, name]
    }
    const place = open.findLastIndex((other) => isSame(other, name))
    if (place < 0) return undefined
    return open.slice(0, kind === 'undo' ? place + 1 : place)
  }
}

const verbs = { make: 'SAVEPOINT', release: 'RELEASE', undo: 'ROLLBACK TO' }

function* savepointCalls(sql: string): Generator<SavepointCall, void> {
  let head: string[] = []
  for (const [token, text] of sqlPieces(sql)) {
    if (token === ';') {
      yield* callIn(head)
      head = []
    } else if (head.length < 6) head.push(text)
  }
  yield* callIn(head)
}

/** `SAVEPOINT a`, `RELEASE [SAVEPOINT] a`, `ROLLBACK [WORK | TRANSACTION] TO [SAVEPOINT] a`. */
function* callIn(head: readonly string[]): Generator<SavepointCall, void> {
  const [first = '', ...rest] = head
  const words = rest.map((each) => each.toUpperCase())
  if (/^savepoint$/i.test(first)) yield { kind: 'make', name: nameIn(rest) }
  else if (/^release$/i.test(first))
    yield { kind: 'release', name: nameIn(rest.slice(words[0] === 'SAVEPOINT' ? 1 : 0)) }
  else if (/^rollback$/i.test(first)) {
    const to = words.indexOf('TO')
    if (to < 0) return
    yield { kind: 'undo', name: nameIn(rest.slice(words[to + 1] === 'SAVEPOINT' ? to + 2 : to + 1)) }
  }
}

function nameIn([first = '', second = '']: readonly string[]): string {
  if (first === '[') return `"${second.replaceAll('"', '""')}"`
  return /^[\w"'`\u0080-\uffff]/.test(first) ? first : ''
}

/** Errs on the side of a match: names that differ only in case or quotes count as one savepoint. */
function isSame(one: string, other: string): boolean {
  return bare(one) === bare(other)
}

function bare(name: string): string {
  return name.replace(/^["'`](.*)["'`]$/s, '$1').toLowerCase()
}
