import { sqlPieces } from './sql-tokens.ts'

const mayBeOne = /\b(?:savepoint|release|rollback)\b/i

/** Guessing yes costs a closer look. */
export function mayUseSavepoint(sql: unknown): boolean {
  return typeof sql === 'string' && mayBeOne.test(sql)
}

interface SavepointCall {
  readonly kind: 'make' | 'release' | 'undo'
  /** As it was written; empty where it cannot be read. */
  readonly name: string
}

export interface SavepointRules {
  /** Making one under a name that is in use takes the earlier one's place (MySQL), instead of hiding it for a while. */
  readonly sameNameReplaces: boolean
}

/**
 * The savepoints of one borrower, by the texts of its statements. A transaction has one stack of them for everybody: a
 * name that an earlier borrower left there, or one of ours, would still answer, and undo what is not the borrower's.
 */
export class Savepoints {
  readonly #rules: SavepointRules
  #open: string[] = []

  constructor(rules: SavepointRules) {
    this.#rules = rules
  }

  /** Notes what the text does; answers with what it may not do, if anything. Then nothing of the text is noted. */
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

  /** The statements that release whatever is left; nothing of it is undone. */
  get left(): readonly string[] {
    const [first] = this.#open
    if (first === undefined) return []
    // Releasing one releases those above it, but under a name the innermost is found first.
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

/** Rather too often the same than too seldom: what is made and released under one name is one savepoint. */
function isSame(one: string, other: string): boolean {
  return bare(one) === bare(other)
}

function bare(name: string): string {
  return name.replace(/^["'`](.*)["'`]$/s, '$1').toLowerCase()
}
