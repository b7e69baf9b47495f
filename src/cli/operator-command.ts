import type { WhoAndWhy } from '../operations/index.ts'
import { type Command, type Described, parsing, UsageError } from './command.ts'
import { helpOf, helpOfAll } from './help.ts'
import { onEachShard } from './on-each-shard.ts'
import { type Opened, openStores, storeOptions } from './open-store.ts'
import { type GivenOptions, type OptionSpec, parseOptions } from './options.ts'
import { type Column, plainLines, table } from './output/table.ts'
import { jsonOf } from './output/wording.ts'
import { wrapped } from './output/wrap.ts'
import { reaching } from './reaching.ts'
import type { Terminal } from './terminal.ts'
import { userName } from './user-name.ts'

const json = { kind: 'flag', text: 'prints JSON' } as const satisfies OptionSpec
const signing = {
  by: { kind: 'text', value: 'name', text: 'who does it, for the audit. Default: your user name' },
  why: { kind: 'text', value: 'text', text: 'why, for the audit' },
} as const satisfies Record<string, OptionSpec>
const yes = { kind: 'flag', text: 'does not ask' } as const satisfies OptionSpec

/** One thing that a command can do with a store. */
export interface Action extends Described {
  /** It changes something, and is signed. `asks`: a person is asked first, unless --yes is given. */
  readonly changes?: boolean | undefined
  readonly asks?: boolean | undefined
  /** The tables need not be up to date. */
  readonly anySchema?: boolean | undefined
  /** Whether it may make the file of a SQLite store. Otherwise a name that is misspelt would leave an empty one behind. */
  creates?(given: GivenOptions): boolean
  /** It is run once, and does what it does for all shards by itself. */
  readonly allShards?: boolean | undefined
  /** Throws if what was given makes no sense; before a store is opened. */
  check?(given: GivenOptions): void
  run(desk: Desk): Promise<number>
}

/** What an action works with. */
export interface Desk extends Opened {
  /** All shards; only this one if there are none. */
  readonly all: readonly Opened[]
  readonly given: GivenOptions
  readonly terminal: Terminal
  readonly isJson: boolean
  /** Who does it, and why. */
  readonly signed: WhoAndWhy
  /** Prints the value as JSON if that was asked for, otherwise the text. */
  show(value: unknown, text: () => string): void
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string
  /** Asks a person; rejects if the answer is not yes. */
  confirm(question: string): Promise<void>
}

/** The options of an action, with those that every action of its kind has. */
export function optionsOf({ options = {}, changes, asks }: Action): Readonly<Record<string, OptionSpec>> {
  return { ...options, ...(changes && signing), ...(asks && { yes }) }
}

export const everywhere: Readonly<Record<string, OptionSpec>> = { ...storeOptions, json }

/** A command for operators: it opens the store, does one thing with it, and closes it. */
export function operatorCommand(
  about: Pick<Described, 'name' | 'summary' | 'about'>,
  ...actions: readonly [Action, ...Action[]]
): Command {
  const described = actions.map((action) => ({ ...action, options: optionsOf(action) }))
  const single = actions.length === 1 && actions[0].name === '' ? described[0] : undefined
  const own =
    single === undefined
      ? { actions: described }
      : { about: single.about, takes: single.takes, options: single.options }
  const command = { ...about, ...own }
  const help = single === undefined ? helpOfAll(about.name, about, described) : helpOf(about.name, command, everywhere)
  const helpFor = (args: readonly string[]): string => {
    const action = single === undefined ? described.find(({ name }) => name === args[0]) : undefined
    return action === undefined ? help : helpOf(`${about.name} ${action.name}`, action, everywhere)
  }
  return {
    ...command,
    help,
    helpFor,
    async run(args, terminal) {
      const [action, rest] = choose(actions, args, help)
      const specs = { ...optionsOf(action), ...everywhere }
      const given = parsing(helpFor(args), () => parseOptions(rest, specs, action.takes))
      parsing(helpFor(args), () => action.check?.(given))
      const all = await openStores(given, { mayCreate: action.creates?.(given) ?? false })
      const runIn = (opened: Opened, at: Terminal): Promise<number> =>
        reaching(opened.store, async () => {
          if (action.anySchema !== true) await opened.store.schema.check()
          return await action.run(deskFor(opened, given, at, all))
        })
      try {
        if (all.length === 1 || action.allShards === true) return await runIn(all[0], terminal)
        return await onEachShard(all, terminal, { isJson: given.flag('json'), run: runIn })
      } finally {
        for (const opened of all) await opened.close().catch(() => {})
      }
    },
  }
}

function choose(
  actions: readonly [Action, ...Action[]],
  args: readonly string[],
  help: string,
): [Action, readonly string[]] {
  const [first] = actions
  if (actions.length === 1 && first.name === '') return [first, args]
  const [name, ...rest] = args
  const action = actions.find((each) => each.name === name)
  if (action !== undefined) return [action, rest]
  const asked = name === undefined || name.startsWith('-') ? 'do what?' : `what is ${name}?`
  throw new UsageError(`${asked} Give one of: ${actions.map((each) => each.name).join(', ')}.\n\n${help}`)
}

function deskFor(opened: Opened, given: GivenOptions, terminal: Terminal, all: readonly Opened[]): Desk {
  const isJson = given.flag('json')
  const why = given.text('why')
  return {
    ...opened,
    all,
    given,
    terminal,
    isJson,
    get signed() {
      return { by: given.text('by') ?? userName(), ...(why !== undefined && { why }) }
    },
    show: (value, text) => void terminal.out.write(isJson ? jsonOf(value) : wrapped(plainLines(text()), terminal.out)),
    table: (rows, columns) => table(rows, columns, terminal.out),
    async confirm(question) {
      if (given.flag('yes')) return
      if (terminal.ask === undefined) throw new UsageError(`${question} Nobody is there to answer: give --yes.`)
      const answer = await terminal.ask(`${plainLines(question)} [y/N] `)
      if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was done.')
    },
  }
}
