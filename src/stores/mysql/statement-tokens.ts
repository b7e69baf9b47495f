/**
 * A piece of a statement: a bare word, a quoted name, the content of a literal, a number, or one character of punctuation.
 * `"` quotes a literal or a name, depending on the session, so it counts as both.
 */
export interface Token {
  readonly kind: 'word' | 'name' | 'literal' | 'either' | 'number' | 'mark'
  /** Without its quotes. */
  readonly text: string
  /** The same in upper case, if it is a bare word. */
  readonly word: string
}

export interface Reading {
  /** `false` in a session with NO_BACKSLASH_ESCAPES. */
  readonly backslashes: boolean
  /** Whether the inside of a comment that begins with `/*!` and this version is run. */
  runs(version: number): boolean
}

const word = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y
const number = /[0-9][\w.$]*/y
const runnable = /\/\*M?!(\d{5,6})?/y

/** This many tokens identify a statement. Of the statements listed here, every token is read. */
const longestHead = 8
const readWhole = new Set(['SET', 'PREPARE', 'EXECUTE', 'DROP', 'CREATE'])

/** The versions in those comments of a text that servers may run; 0 for a comment without a version. */
export function versionsIn(sql: string): number[] {
  if (!sql.includes('/*')) return []
  return [...sql.matchAll(/\/\*M?!(\d{5,6})?/g)].map(([, version]) => Number(version ?? 0))
}

/**
 * The first tokens of each statement of a text. It reads comments, literals and quoted names as MySQL and MariaDB do,
 * including the comments whose content the server runs.
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
  // Like the server: two dashes begin a comment only before a space, a control character or the end.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for.
  if (character === '#' || /^--(?:[\s\u0000-\u001f]|$)/.test(sql.slice(at, at + 3))) return endOfLine(sql, at)
  if (sql.startsWith('*/', at)) return at + 2
  if (!sql.startsWith('/*', at)) return at
  runnable.lastIndex = at
  const found = runnable.exec(sql)
  // Skips only the comment marker and its version.
  if (found !== null && runs(Number(found[1] ?? 0))) return runnable.lastIndex
  const end = sql.indexOf('*/', at + 2)
  return end < 0 ? sql.length : end + 2
}

function endOfLine(sql: string, at: number): number {
  const end = sql.indexOf('\n', at)
  return end < 0 ? sql.length : end + 1
}

/** The quoted content, and where the quotes end. */
function quotedAt(sql: string, at: number, backslashes: boolean): [string, number] {
  const quote = sql[at] as string
  const parts: string[] = []
  let from = at + 1
  for (let next = from; next < sql.length; next++) {
    const isEscape = backslashes && sql[next] === '\\'
    if (sql[next] === quote && sql[next + 1] !== quote) return [parts.join('') + sql.slice(from, next), next + 1]
    if (!isEscape && sql[next] !== quote) continue
    // The next character stands for itself.
    parts.push(sql.slice(from, next))
    from = ++next
  }
  return [parts.join('') + sql.slice(from), sql.length]
}
