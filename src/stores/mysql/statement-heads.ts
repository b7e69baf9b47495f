/** The beginning of one statement: its first words in upper case, and every word, where it is a SET. */
export type StatementHead = readonly string[]

const word = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y
const longestHead = 4

/**
 * The beginning of each statement in a text. It knows comments, literals and quoted names as MySQL and MariaDB read them,
 * with backslashes in literals, and reads the inside of comments that begin with `/*!`, which the server runs.
 */
export function statementHeads(sql: string): StatementHead[] {
  const heads: string[][] = [[]]
  for (let at = 0; at < sql.length; ) {
    const skipped = endOfGap(sql, at)
    if (skipped > at) {
      at = skipped
      continue
    }
    const head = heads.at(-1) as string[]
    word.lastIndex = at
    const found = word.exec(sql)?.[0]
    if (found !== undefined) {
      if (head.length < longestHead || head[0] === 'SET') head.push(found.toUpperCase())
      at += found.length
    } else if (sql[at] === ';') {
      heads.push([])
      at++
    } else at = endOfOther(sql, at)
  }
  return heads.filter((head) => head.length > 0)
}

function endOfGap(sql: string, at: number): number {
  const character = sql[at] as string
  if (/\s/.test(character) || character === '(') return at + 1
  if (character === '#' || /^--(?:\s|$)/.test(sql.slice(at, at + 3))) return endOfLine(sql, at)
  if (sql.startsWith('*/', at)) return at + 2
  if (!sql.startsWith('/*', at)) return at
  // Not a comment to the server: only its brackets are skipped, and the version in it.
  const run = /\/\*M?!\d*/y
  run.lastIndex = at
  if (run.test(sql)) return run.lastIndex
  const end = sql.indexOf('*/', at + 2)
  return end < 0 ? sql.length : end + 2
}

function endOfLine(sql: string, at: number): number {
  const end = sql.indexOf('\n', at)
  return end < 0 ? sql.length : end + 1
}

function endOfOther(sql: string, at: number): number {
  const quote = sql[at] as string
  if (quote !== "'" && quote !== '"' && quote !== '`') return at + 1
  for (let next = at + 1; next < sql.length; next++) {
    if (sql[next] === '\\' && quote !== '`') next++
    else if (sql[next] === quote && sql[next + 1] === quote) next++
    else if (sql[next] === quote) return next + 1
  }
  return sql.length
}
