/** An option as its interface describes it. */
export interface OptionDescription {
  readonly name: string
  readonly required: boolean
  readonly type: string
  /** Undefined: nobody has described it. */
  readonly text: string | undefined
}

/** The options of an interface, without inherited ones. It relies on the formatting that `npm run check` enforces: members are indented by two. */
export function optionsIn(source: string, name: string): readonly OptionDescription[] {
  const lines = source.split('\n')
  const start = lines.findIndex((line) => new RegExp(`^(export )?interface ${name}\\b`).test(line))
  if (start < 0) throw new Error(`There is no interface ${name}.`)
  const end = lines.indexOf('}', start)
  const options: OptionDescription[] = []
  let comment: string[] = []
  for (let at = start + 1; at < end; at++) {
    const line = lines[at] as string
    if (line.startsWith('  /**') || line.startsWith('   *')) {
      comment.push(line)
      continue
    }
    const member = /^ {2}readonly (\w+)(\??): ?(.*)$/.exec(line)
    if (member === null) continue
    const [, option = '', mark = '', first = ''] = member
    const type = [first]
    while (lines[at + 1]?.startsWith('    ') || /^ {2}[)}\]]/.test(lines[at + 1] ?? ''))
      type.push((lines[++at] ?? '').trim())
    options.push({ name: option, required: mark === '', type: plainType(type.join(' ')), text: plainText(comment) })
    comment = []
  }
  return options
}

function plainType(type: string): string {
  return type
    .trim()
    .replaceAll('readonly ', '')
    .replace(/ \| undefined$/, '')
    .replace(/^S$/, 'Store')
}

function plainText(comment: readonly string[]): string | undefined {
  const text = comment
    .map((line) => line.replace(/^ *(\/\*\*|\*\/|\*)? ?/, '').replace(/ ?\*\/$/, ''))
    .map((line) => line.replace(/^- /, ' '))
    .join(' ')
    .replace(/ +/g, ' ')
    .trim()
  return text === '' ? undefined : text
}
