const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y
const number = /[0-9][\w.]*/y
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const space = /\s+/y

/** Stands for everything except bare words and the end of a statement: literals, quoted names and punctuation. */
export const otherToken = '·'

/**
 * Yields bare words in upper case, `;`, and `otherToken` for everything else; comments and white space are skipped. It knows
 * enough of SQLite, Postgres and MySQL never to mistake the inside of a literal, a quoted name or a comment for words.
 */
export function* sqlTokens(sql: string): Generator<string, void> {
  for (const [token] of sqlPieces(sql)) yield token
}

/** Yields the same tokens, each with its original text. */
export function* sqlPieces(sql: string): Generator<readonly [token: string, text: string], void> {
  let at = 0
  while (at < sql.length) {
    const start = at
    const gap = endOfGap(sql, start)
    const bare = gap === start ? endOf(word, sql, start) : start
    if (gap > start) at = gap
    else if (bare > start && sql[bare] === "'" && bare === start + 1 && /e/i.test(sql[start] as string)) {
      at = endOfEscapedString(sql, bare)
      yield [otherToken, sql.slice(start, at)]
    } else if (bare > start) {
      at = bare
      const text = sql.slice(start, bare)
      yield [text.toUpperCase(), text]
    } else {
      at = endOfOther(sql, start, sql[start] as string)
      yield [sql[start] === ';' ? ';' : otherToken, sql.slice(start, at)]
    }
  }
}

function endOfGap(sql: string, start: number): number {
  if (sql.startsWith('--', start)) return endOfLine(sql, start)
  if (sql.startsWith('/*', start)) return endOfComment(sql, start)
  return endOf(space, sql, start)
}

function endOfOther(sql: string, start: number, character: string): number {
  if (character === "'" || character === '"') return endOfQuoted(sql, start, character, sql.length)
  // Backtick and dollar mean something else in some dialects: without a closing partner they are punctuation.
  if (character === '`') return endOfQuoted(sql, start, character, start + 1)
  if (character === '$') {
    const opened = endOf(dollarTag, sql, start)
    const closed = opened > start ? sql.indexOf(sql.slice(start, opened), opened) : -1
    return closed < 0 ? start + 1 : closed + (opened - start)
  }
  return Math.max(endOf(number, sql, start), start + 1)
}

function endOf(pattern: RegExp, sql: string, start: number): number {
  pattern.lastIndex = start
  return pattern.test(sql) ? pattern.lastIndex : start
}

/** A doubled quote is read as two adjacent literals, which has the same result. */
function endOfQuoted(sql: string, start: number, quote: string, unterminated: number): number {
  const closed = sql.indexOf(quote, start + 1)
  return closed < 0 ? unterminated : closed + 1
}

function endOfEscapedString(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] === '\\') at++
    else if (sql[at] === "'" && sql[at + 1] === "'") at++
    else if (sql[at] === "'") return at + 1
  }
  return sql.length
}

function endOfLine(sql: string, start: number): number {
  for (let at = start; at < sql.length; at++) if (sql[at] === '\n' || sql[at] === '\r') return at
  return sql.length
}

/** Comments nest in Postgres but not in SQLite. If the nesting is unbalanced, the first end marker ends the comment. */
function endOfComment(sql: string, start: number): number {
  let depth = 0
  for (let at = start; at < sql.length - 1; at++) {
    if (sql[at] === '/' && sql[at + 1] === '*') {
      depth++
      at++
    } else if (sql[at] === '*' && sql[at + 1] === '/') {
      depth--
      at++
      if (depth === 0) return at + 1
    }
  }
  const first = sql.indexOf('*/', start + 2)
  return first < 0 ? sql.length : first + 2
}
