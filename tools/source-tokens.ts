export interface Token {
  kind: 'word' | 'string' | 'mark'
  text: string
  line: number
}

const wordsBeforeRegExp = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'await',
  'yield',
  'throw',
])

/** Splits TypeScript into words, strings and marks; comments, regular expressions and template text are left out. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  // One entry per open brace: does closing it lead back into the text of a template?
  const openBraces: boolean[] = []
  let at = 0
  let line = 1

  const advanceTo = (end: number) => {
    for (; at < end; at++) if (source[at] === '\n') line++
  }
  const push = (kind: Token['kind'], end: number, text = source.slice(at, end)) => {
    tokens.push({ kind, text, line })
    advanceTo(end)
  }
  const templateText = (start: number) => {
    const end = endOfTemplateText(source, start)
    const plain = source[start - 1] === '`' && source[end - 1] === '`'
    if (source[end - 1] === '{') openBraces.push(true)
    push(plain ? 'string' : 'mark', end, plain ? source.slice(start, end - 1) : '`')
  }

  while (at < source.length) {
    const char = source[at] as string
    if (source.startsWith('//', at)) advanceTo(endOf(source, '\n', at))
    else if (source.startsWith('/*', at)) advanceTo(endOf(source, '*/', at + 2))
    else if (char === "'" || char === '"') {
      const end = endOfQuoted(source, at)
      push('string', end, source.slice(at + 1, end - 1))
    } else if (char === '`') templateText(at + 1)
    else if (char === '/' && mayStartRegExp(tokens.at(-1))) advanceTo(endOfRegExp(source, at))
    else if (/[\w$]/.test(char)) push('word', endOfWord(source, at))
    else if (/\s/.test(char)) advanceTo(at + 1)
    else if (char === '{') {
      openBraces.push(false)
      push('mark', at + 1)
    } else if (char === '}' && openBraces.pop() === true) templateText(at + 1)
    else push('mark', at + 1)
  }
  return tokens
}

function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from)
  return found === -1 ? source.length : found + mark.length
}

function endOfWord(source: string, from: number): number {
  let at = from
  while (at < source.length && /[\w$]/.test(source[at] as string)) at++
  return at
}

function endOfQuoted(source: string, from: number): number {
  let at = from + 1
  while (at < source.length && source[at] !== source[from]) at += source[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfTemplateText(source: string, from: number): number {
  let at = from
  while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) at += source[at] === '\\' ? 2 : 1
  return source[at] === '$' ? at + 2 : at + 1
}

function endOfRegExp(source: string, from: number): number {
  let inClass = false
  let at = from + 1
  for (; at < source.length && (inClass || source[at] !== '/'); at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '[') inClass = true
    else if (source[at] === ']') inClass = false
  }
  return at + 1
}

/** After a value a slash divides; anywhere else it opens a regular expression. */
function mayStartRegExp(previous: Token | undefined): boolean {
  if (previous === undefined) return true
  if (previous.kind === 'word') return wordsBeforeRegExp.has(previous.text)
  return previous.kind === 'mark' && ![')', ']', '}', '`'].includes(previous.text)
}
