import { type Command, parsing, UsageError } from '../command.ts'
import { helpOf } from '../help.ts'
import { type OptionSpec, parseOptions } from '../options.ts'

const options = {
  messages: { kind: 'number', text: 'how many payments are sent, some of them twice. Default: 400' },
  kills: { kind: 'number', text: 'how often the process that books them is killed. Default: 4' },
  exit: { kind: 'flag', text: 'ends after that; in a pipe it always does' },
  port: { kind: 'number', text: 'of the dashboard. Default: one that is free' },
  json: { kind: 'flag', text: 'prints JSON, and ends' },
} as const satisfies Record<string, OptionSpec>

const about = {
  name: 'demo',
  summary: 'shows it live: payments, copies, kill -9 and the dashboard, on a file that is removed again',
  about: `Books payments in a process that is killed again and again, from a queue that brings some of them twice, in a temporary SQLite file. Needs
nothing but Node. In a terminal the dashboard stays open and payments keep coming until Ctrl-C. The exit code is 1 if a payment was lost or doubled.`,
  options,
}

export const demoCommand: Command = {
  ...about,
  help: helpOf(about.name, about),
  async run(args, terminal) {
    // Loaded when it is wanted: every other command would wait for the whole library.
    const { demonstrate, work } = await import('./demonstrate.ts')
    if (args[0] === '--worker') return await work(args[1] ?? '')
    const given = parsing(helpOf(about.name, about), () => parseOptions(args, options))
    const [messages, kills] = [given.number('messages') ?? 400, given.number('kills') ?? 4]
    for (const [name, value] of Object.entries({ messages, kills }))
      if (!Number.isInteger(value) || value < 0) throw new UsageError(`--${name} takes a whole number.`)
    const isJson = given.flag('json')
    const stays = terminal.out.isTTY === true && !given.flag('exit') && !isJson && !process.env.CI
    return await demonstrate({ messages, kills, isJson, stays, port: given.number('port') ?? 0 }, terminal)
  },
}
