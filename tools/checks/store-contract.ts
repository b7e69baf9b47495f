import { type RepoFile, readRepoFiles } from '../repo.ts'
import { type Token, tokenize } from '../source-tokens.ts'
import type { Check } from './check.ts'

/** What the author of a store has to write. A contract grows by one harmless method at a time: lower these. Never more than 28 are required, nor 50 in all. */
export const limits = { required: 28, all: 50 }

interface Member {
  readonly name: string
  readonly optional: boolean
  /** The interface that a property refers to; undefined for a method. */
  readonly type: string | undefined
}

export interface ContractSize {
  readonly required: number
  readonly all: number
}

/** Counts the methods of a store, of its parts, and of what it lends; those of an optional part are all optional. */
export function sizeOfContract(files: readonly RepoFile[]): ContractSize {
  const interfaces = new Map(files.flatMap(({ text }) => interfacesIn(tokenize(text))))
  const count = (name: string, optional: boolean): ContractSize => {
    let [required, all] = [0, 0]
    for (const member of interfaces.get(name) ?? []) {
      const isOptional = optional || member.optional
      const size = member.type === undefined ? { required: isOptional ? 0 : 1, all: 1 } : count(member.type, isOptional)
      required += size.required
      all += size.all
    }
    return { required, all }
  }
  const [store, loan] = [count('Store', false), count('Loan', false)]
  return { required: store.required + loan.required, all: store.all + loan.all }
}

export function findLargeContract({ required, all }: ContractSize): string[] {
  const problems: string[] = []
  if (required > limits.required)
    problems.push(`a store has ${required} required methods; the limit is ${limits.required}`)
  if (all > limits.all) problems.push(`a store has ${all} methods in all; the limit is ${limits.all}`)
  return problems
}

function interfacesIn(tokens: readonly Token[]): [string, Member[]][] {
  const found: [string, Member[]][] = []
  for (let at = 0; at < tokens.length; at++) {
    if (tokens[at]?.text !== 'interface' || tokens[at - 1]?.text !== 'export') continue
    const open = tokens.findIndex(({ text }, index) => index > at && text === '{')
    found.push([tokens[at + 1]?.text ?? '', membersFrom(tokens, open + 1)])
    at = open
  }
  return found
}

/** A member begins with a word, after which comes `?`, `:`, `(` or `<`; everything in brackets belongs to the one before. */
function membersFrom(tokens: readonly Token[], start: number): Member[] {
  const members: Member[] = []
  let depth = 0
  for (let at = start; at < tokens.length && depth >= 0; at++) {
    const { text } = tokens[at] as Token
    if ('{([<'.includes(text)) depth++
    else if ('})]'.includes(text) || (text === '>' && tokens[at - 1]?.text !== '=')) depth--
    const isName = depth === 0 && tokens[at]?.kind === 'word' && tokens[at]?.line !== tokens[at - 1]?.line
    if (!isName) continue
    const name = text === 'readonly' ? at + 1 : at
    const optional = tokens[name + 1]?.text === '?'
    const mark = tokens[name + (optional ? 2 : 1)]?.text
    const type = mark === ':' ? tokens[name + (optional ? 3 : 2)]?.text : undefined
    members.push({ name: tokens[name]?.text ?? '', optional, type })
  }
  return members
}

export const storeContractCheck: Check = {
  name: 'store-contract',
  async run() {
    const size = sizeOfContract(readRepoFiles((path) => path.startsWith('src/contracts/')))
    return { problems: findLargeContract(size) }
  },
}
