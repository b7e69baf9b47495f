import { type Command, parsing, UsageError } from '../command.ts'
import { helpOf } from '../help.ts'
import { type OptionSpec, parseOptions } from '../options.ts'
import { jsonOf } from '../output/wording.ts'
import type { Terminal } from '../terminal.ts'
import type { Answer } from './answer.ts'
import { type Decided, decide } from './decide.ts'
import { type Choice, questions } from './decisions.ts'

type Question = keyof Choice
const names = Object.keys(questions) as Question[]

const options = {
  ...(Object.fromEntries(
    names.map((name) => [
      name,
      { kind: 'text', value: Object.keys(questions[name].answers).join(' | '), text: questions[name].text },
    ]),
  ) as Record<Question, OptionSpec>),
  json: { kind: 'flag', text: 'prints JSON' },
} as const satisfies Record<string, OptionSpec>

const about = {
  name: 'choose',
  summary: 'asks what you have, and says which scheme fits, with code for your database and broker',
  about: `Asks what you have, and says which scheme fits, with code for your database and broker. What an option has answered is not asked;
without a terminal the options must answer everything but the load, which is usual. The guide docs/guides/choosing.md has the whole tree.`,
  options,
}

export const chooseCommand: Command = {
  ...about,
  help: helpOf(about.name, about),
  async run(args, terminal) {
    const given = parsing(helpOf(about.name, about), () => parseOptions(args, options))
    const isJson = given.flag('json')
    const choice: Partial<Record<Question, string>> = {}
    for (const name of names) {
      const text = given.text(name)
      choice[name] = text === undefined ? await answerTo(name, terminal) : checked(name, text)
    }
    const decided = decide(choice as unknown as Choice)
    terminal.out.write(isJson ? jsonOf(decided) : textOf(decided))
    return 0
  },
}

async function answerTo(name: Question, { err, ask }: Terminal): Promise<string> {
  const { text, answers } = questions[name]
  const known = Object.entries<Answer>(answers)
  if (ask === undefined) {
    if (name === 'load') return 'usual'
    throw new UsageError(`${text} Give --${name} with one of: ${known.map(([each]) => each).join(', ')}.`)
  }
  const lines = known.map(([each, { label }], place) => `  ${place + 1}  ${each.padEnd(17)} ${label}\n`)
  err.write(`\n${text}\n${lines.join('')}`)
  for (;;) {
    const answer = (await ask('Number or name: ')).trim()
    const found = known[Number(answer) - 1] ?? known.find(([each]) => each === answer)
    if (found !== undefined) return found[0]
    err.write(`Give a number from 1 to ${known.length}, or a name.\n`)
  }
}

function checked(name: Question, text: string): string {
  const known = Object.keys(questions[name].answers)
  if (known.includes(text)) return text
  throw new UsageError(`--${name} is one of: ${known.join(', ')}; not ${text}.`)
}

function textOf({ schemes, beware, snippet }: Decided): string {
  const lines = [
    ...schemes.map(({ scheme, why, page, example }) => {
      const shown = example === undefined ? '' : `\n  Example: ${example}`
      return `Use ${scheme}:\n  ${why} (${page}).${shown}\n`
    }),
    ...beware.map((text) => `Mind: ${text}\n`),
    ...(snippet === undefined ? [] : ['', snippet, 'Then prove it: docs/guides/prove.md\n']),
  ]
  return lines.join('\n')
}
