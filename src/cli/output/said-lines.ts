import { onOneLine } from './table.ts'
import { timeOf } from './wording.ts'

/** More is a story of its own. */
const mostLines = 8
const deeper = '      '

/** What an error said, and where it was thrown: the rest of its stack is for programs. */
export function saidLines({ at, message }: { readonly at: Date; readonly message: string }): string[] {
  const [first = '', ...rest] = message.split('\n')
  const frames = rest.filter((line) => /^\s+at /.test(line))
  const said = rest.filter((line) => line.trim() !== '' && !frames.includes(line))
  const shown = [...said.slice(0, mostLines), ...frames.slice(0, 1)].map((line) => deeper + line.trim())
  const left = rest.filter((line) => line.trim() !== '').length - shown.length
  const more = left > 0 ? [`${deeper}… ${left} more with --json`] : []
  return [`  ${timeOf(at)}  ${first}`, ...shown, ...more]
}

/** Lines as text: each is one, whatever a message brings, and keeps the indentation that says whose it is. */
export function linesOf(lines: readonly string[]): string {
  return lines
    .map((line) => {
      const [indentation = ''] = /^ */.exec(line) ?? []
      return `${indentation}${onOneLine(line.slice(indentation.length))}\n`
    })
    .join('')
}
