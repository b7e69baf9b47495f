/**
 * A piece of a statement: a bare word, a quoted name, the content of a literal, a number, or one character of
 * punctuation. `"` quotes a literal or a name, as the session has it: it counts as both.
 */
export interface Token {
  readonly kind: 'word' | 'name' | 'literal' | 'either' | 'number' | 'mark'
  /** Without its quotes. */
  readonly text: string
  /** The same in upper case, if it is a bare word. */
  readonly word: string
}

export interface Reading {
  /** False in a session with NO_BACKSLASH_ESCAPES. */
  readonly backslashes: boolean
  /** Whether the inside of a comment that begins with `/*!` and this version is run. */
  runs(version: number): boolean
}

const word = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y
const number = /[0-9][\w.$]*/y
const runnable = /\/\*M?!(\d{5,6})?/y

/** So many tokens tell what a statement is; of those that are listed here every token counts. */
const longestHead = 8
const readWhole = new Set(['SET', 'PREPARE', 'EXECUTE', 'DROP', 'CREATE'])

/** The versions in the comments of a text that servers may run, 0 for one without. */
export function versionsIn(sql: string): number[] {
  if (!sql.includes('/*')) return []
  return [...sql.matchAll(/\/\*M?!(\d{5,6})?/g)].map(([, version]) => Number(version ?? 0))
}

/**
 * The tokens that each statement of a text begins with. It knows comments, literals and quoted names as MySQL and MariaDB
 * read them, and the comments of which the server runs the inside.
 */
export function statementsIn(sql: string, reading: Reading): Token[][] {
  const statements: Token[][] = [[]]
  for (let at = 0; at < sql.length; ) {
    const skipped = endOfGap(sql, at, reading)
    if (skipped > at) {
      at = skipped
      continue
    }
    const statement = statements.at(-1) as Token[]
    const [token, end] = tokenAt(sql, at, reading)
    at = end
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else if (statement.length < longestHead || readWhole.has((statement[0] as Token).word)) statement.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}

function tokenAt(sql: string, at: number, { backslashes }: Reading): [Token, number] {
  const character = sql[at] as string
  if (character === "'" || character === '"' || character === '`') {
    const [text, end] = quotedAt(sql, at, backslashes && character !== '`')
    const kind = character === "'" ? 'literal' : character === '"' ? 'either' : 'name'
    return [{ kind, text, word: '' }, end]
  }
  const bare = matchAt(word, sql, at)
  if (bare !== undefined) return [{ kind: 'word', text: bare, word: bare.toUpperCase() }, at + bare.length]
  const digits = matchAt(number, sql, at)
  if (digits !== undefined) return [{ kind: 'number', text: digits, word: '' }, at + digits.length]
  return [{ kind: 'mark', text: character, word: '' }, at + 1]
}

function matchAt(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0]
}

function endOfGap(sql: string, at: number, { runs }: Reading): number {
  const character = sql[at] as string
  if (/\s/.test(character)) return at + 1
  // As the server has it: two dashes begin a comment only before a space, a control character or the end.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for.
  if (character === '#' || /^--(?:[\s\u0000-\u001f]|$)/.test(sql.slice(at, at + 3))) return endOfLine(sql, at)
  if (sql.startsWith('*/', at)) return at + 2
  if (!sql.startsWith('/*', at)) return at
  runnable.lastIndex = at
  const found = runnable.exec(sql)
  // Only its brackets are skipped, and the version in it.
  if (found !== null && runs(Number(found[1] ?? 0))) return runnable.lastIndex
  const end = sql.indexOf('*/', at + 2)
  return end < 0 ? sql.length : end + 2
}

function endOfLine(sql: string, at: number): number {
  const end = sql.indexOf('\n', at)
  return end < 0 ? sql.length : end + 1
}

/** What the quotes hold, and where they end. */
function quotedAt(sql: string, at: number, backslashes: boolean): [string, number] {
  const quote = sql[at] as string
  const parts: string[] = []
  let from = at + 1
  for (let next = from; next < sql.length; next++) {
    const isEscape = backslashes && sql[next] === '\\'
    if (sql[next] === quote && sql[next + 1] !== quote) return [parts.join('') + sql.slice(from, next), next + 1]
    if (!isEscape && sql[next] !== quote) continue
    // The character after it stands for itself.
    parts.push(sql.slice(from, next))
    from = ++next
  }
  return [parts.join('') + sql.slice(from), sql.length]
}
