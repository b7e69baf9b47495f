import { hash } from 'node:crypto'
import type { MessageToQueue, NewParkedMessage, ParkedEdit, RecordState } from '../../contracts/index.ts'
import { stateLetters } from '../shared/state-letters.ts'
import type { ScriptArgument } from './connection.ts'
import { pairName, rowName } from './names.ts'
import { rowFields } from './parked-row.ts'
import { recordTail } from './record-value.ts'
import type { Step, Transaction } from './transaction.ts'

interface ClaimedRecord {
  readonly fingerprint: Uint8Array | undefined
  /** `undefined` if the claim was given up. */
  state: RecordState | undefined
  result: string | undefined
}

/** The transaction as the arguments of the commit script; `undefined` if there is nothing to commit. */
export function commitArguments(transaction: Transaction, recordTtlMs: number): ScriptArgument[] | undefined {
  const { token, steps, held, locks, groups } = transaction
  const lifeOf = (state: RecordState): number => (state === 'parked' ? 0 : Math.ceil(recordTtlMs))
  const claims = new Map<string, ClaimedRecord>()
  const actions: ScriptArgument[] = []
  const act = (kind: string, ...args: readonly ScriptArgument[]): void => void actions.push(kind, args.length, ...args)
  const groupOf = (name: string): number => groups.get(name) ?? 0
  for (const step of steps) {
    const claimed = claimedBy(step, claims)
    if (claimed === undefined) write(step)
    else if (step.kind === 'release' || step.kind === 'forget') claimed.state = undefined
    else if (step.kind === 'update') Object.assign(claimed, { state: step.change.state, result: step.change.result })
  }
  function write(step: Step): void {
    switch (step.kind) {
      case 'claim': {
        const { fingerprint } = step.request
        // An existing record is updated, not created.
        if (!step.isPartly) claims.set(rowName(step.request), { fingerprint, state: 'processed', result: undefined })
        break
      }
      case 'update': {
        const { state, result } = step.change
        const name = rowName(step.change)
        const tail = result === undefined ? '' : ` ${result}`
        act('update', groupOf(name), name, stateLetters[state], lifeOf(state), tail)
        break
      }
      case 'forget':
        act('forget', step.name)
        break
      case 'epoch':
        act('epoch')
        break
      case 'command':
        act('command', step.group, ...step.args)
        break
      case 'park':
        act('park', ...parkArguments(step.message))
        break
      case 'change': {
        const { change } = step
        const name = rowName(change)
        if (change.kind === 'done') act('change', groupOf(name), name, 'done')
        else {
          const { attempts, reason, errors, shape } = change
          const [state, delay] = change.kind === 'again' ? ['waiting', Math.ceil(change.delayMs)] : ['dead', 0]
          const step = (change.kind === 'dead' ? change.step : undefined) ?? ''
          act('change', groupOf(name), name, state as string, delay as number, attempts, reason, errors, shape, step)
        }
        break
      }
      case 'edit':
        act('edit', step.name, ...editArguments(step.edit))
        break
      case 'fact': {
        const { value, revision, forMs = 0, expiresAt = 0 } = step.row
        act('fact', step.name, step.seen, revision, forMs, expiresAt, value)
        break
      }
      case 'remove-facts':
        act('removeFacts', ...step.names)
        break
      case 'send':
        act('send', ...sendArguments(step.queue, step.message))
        break
      case 'remove':
        act('remove', step.queue, step.ticket, step.still ?? '')
        break
      case 'expect':
        act('expect', step.queue, step.ticket)
        break
    }
  }
  if (actions.length === 0 && held.size === 0 && locks.size === 0) return undefined
  const records = [...held].flatMap((name): ScriptArgument[] => {
    const { state, fingerprint, result } = claims.get(name) ?? { state: undefined, fingerprint: undefined }
    if (state === undefined) return [name, '', 0, ' -', groupOf(name)]
    return [name, stateLetters[state], lifeOf(state), recordTail(fingerprint, result), groupOf(name)]
  })
  const at = new Date().toISOString()
  return [token, at, held.size, ...records, locks.size, ...locks, ...actions]
}

/** The claim of the same transaction that the step changes. */
function claimedBy(step: Step, claims: ReadonlyMap<string, ClaimedRecord>): ClaimedRecord | undefined {
  if (step.kind === 'release' || step.kind === 'forget') return claims.get(step.name)
  return step.kind === 'update' ? claims.get(rowName(step.change)) : undefined
}

function parkArguments(message: NewParkedMessage): ScriptArgument[] {
  const { handler, orderKey, source, type, messageId, step, delayMs, dueAt } = message
  const scope = orderKey === undefined ? '' : pairName(handler, orderKey)
  const steps = JSON.stringify([source, type, messageId])
  return [rowName(message), scope, steps, step, Math.ceil(delayMs), dueAt?.getTime() ?? '', ...rowFields(message)]
}

function editArguments(edit: ParkedEdit): ScriptArgument[] {
  if (edit.kind === 'mark') return [edit.kind, edit.redrive]
  if (edit.kind === 'replace') return [edit.kind, base64(edit.message.envelope), base64(edit.message.body)]
  return [edit.kind]
}

/** A lane contains the messages of one key in one queue. */
function sendArguments(queue: string, { message, key }: MessageToQueue): ScriptArgument[] {
  const lane = key === undefined ? [] : [hash('sha256', pairName(queue, key), 'base64url').slice(0, 22)]
  return [queue, base64(message.envelope), base64(message.body), message.body.byteLength, ...lane]
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
