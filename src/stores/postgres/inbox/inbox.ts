import type { ClaimRequest, Inbox, InboxKey, RecordChange } from '../../../contracts/index.ts'
import { splitChanges } from '../../../encoding/split-changes.ts'
import { JustonceError } from '../../../errors/index.ts'
import { stateLetters } from '../../shared/state-letters.ts'
import type { Answer, Call, Connections, Runner } from '../connection.ts'
import { messageOf, sqlState } from '../errors.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { swallowed } from '../transactions/swallowed.ts'
import { textArray, textIn } from '../values-as-text.ts'
import { type Claimed, claimAll } from './claim.ts'
import { locate, lookAt, runAmong } from './find-records.ts'
import type { ClaimStatements, InboxStatements, TwoWays } from './inbox-statements.ts'
import type { Partitions } from './partitions.ts'
import { nameOf } from './record-rows.ts'

export interface InboxParts<Tx> {
  readonly connections: Pick<Connections<Tx>, 'runAlone'>
  readonly transactions: OpenTransactions<Tx>
  readonly statements: InboxStatements
  /** Changes records that the same transaction has claimed. */
  claimedCalls(changes: readonly RecordChange[]): Call[]
  readonly partitions: Partitions<Tx>
}

export function postgresInbox<Tx>(parts: InboxParts<Tx>): Inbox<Tx> {
  const { connections, transactions, statements, claimedCalls } = parts
  const alone = { run: connections.runAlone }
  const claimIn = claims(parts)
  return {
    async claim(tx, requests) {
      const transaction = transactions.get(tx)
      const { connection } = transaction
      const claim = connection.skipsAfterFailure ? statements.claim : statements.claimIfOpen
      const { existing, tooOld } = await claimIn(connection, claim, requests)
      const epoch = transaction.epoch()
      return { epoch: typeof epoch === 'string' ? epoch : await epoch, existing, ...(tooOld && { tooOld }) }
    },
    async update(tx, changes) {
      const ofClaimed = claimedCalls(changes.filter(({ claimed }) => claimed))
      if (ofClaimed.length > 0) await transactions.write(tx, ofClaimed)
      const { unclaimed, kept } = splitChanges(changes.filter(({ claimed }) => !claimed))
      await changeAll(transactions.runner(tx), statements, statements.release, unclaimed, () => [])
      await changeAll(transactions.runner(tx), statements, statements.update, kept, (some) => [
        textArray(some.map(({ state }) => stateLetters[state])),
        textArray(some.map(({ result }) => result)),
      ])
    },
    async find(keys) {
      const found = await lookAt(alone, statements.look, keys.map(withoutBorn))
      const places = [...keys.keys()].filter((place) => found[place] === undefined)
      const located = await locate(
        alone,
        statements,
        places.map((place) => ({ ...(keys[place] as InboxKey), place })),
      )
      const records = await lookAt(alone, statements.look, located)
      for (const [index, { place }] of located.entries()) found[place] = records[index]
      return found
    },
    async forget(tx, keys) {
      const names = [textArray(keys.map(({ handler }) => handler)), textArray(keys.map(({ key }) => key))]
      const { rows } = await transactions.runner(tx).run(statements.forget, names)
      return Number(rows[0]?.[0])
    },
  }
}

/** The same records, claimed inside a transaction of the caller. */
export function joinedInbox<Tx>(inbox: Inbox<Tx>, parts: InboxParts<Tx>): Inbox<Tx> {
  const { transactions, statements } = parts
  const claimIn = claims(parts)
  return {
    ...inbox,
    async claim(tx, requests) {
      try {
        const runner = transactions.runner(tx)
        const { existing, tooOld, epoch } = await claimIn(runner, statements.claimJoined, requests)
        const epochNow = textIn(epoch ?? (await runner.run(statements.epoch, [])).rows[0]?.[0])
        return { epoch: epochNow, existing, ...(tooOld && { tooOld }) }
      } catch (error) {
        if (sqlState(error) !== '40001') throw error
        throw new JustonceError('ISOLATION_TOO_STRICT', {
          message: 'A rival has claimed the same key after the snapshot of this transaction was taken.',
          cause: error,
        })
      }
    },
  }
}

type ClaimIn = (runner: Runner, claim: ClaimStatements, requests: readonly ClaimRequest[]) => Promise<Claimed>

function claims<Tx>({ statements, partitions }: InboxParts<Tx>): ClaimIn {
  const habit = { mostlyKnown: false }
  const { look, horizon } = statements
  return async (runner, claim, requests) => {
    if (requests.length === 0) return { existing: [], tooOld: undefined, epoch: undefined }
    if (!partitions.has(requests)) await partitions.makeFor(runner, requests)
    try {
      return await claimAll(runner, { claim, look, horizon, habit }, requests)
    } catch (error) {
      if (sqlState(error) === '23505') throw swallowed('a claim has met a unique index that is not ours', error)
      if (sqlState(error) !== '23514') throw error
      partitions.forget()
      // The retry creates the missing partition.
      throw new JustonceError('STORE_BUSY', {
        message: `A partition of the inbox has disappeared: ${messageOf(error)}.`,
        cause: error,
      })
    }
  }
}

/** A key given without a time mostly has none. Only if no timeless record matches is it searched in all partitions. */
async function changeAll<Key extends InboxKey>(
  runner: Runner,
  statements: InboxStatements,
  ways: TwoWays,
  keys: readonly Key[],
  values: (keys: readonly Key[]) => string[],
): Promise<void> {
  const born = keys.filter((key) => key.born !== undefined)
  const timeless = keys.filter((key) => key.born === undefined)
  const undone: InboxKey[] = []
  if (timeless.length > 0) {
    const { rows } = await runAmong(runner, ways, timeless, false, values(timeless))
    const rest = timeless.filter(isNotAmong(rows))
    undone.push(...rest)
    born.push(...(await locate(runner, statements, rest)))
  }
  if (born.length > 0) {
    const { rows } = await runAmong(runner, ways, born, true, values(born))
    undone.push(...born.filter(isNotAmong(rows)))
  }
  // If a record no longer exists, there is nothing to change. If it still exists, the change was swallowed.
  const left = undone.length === 0 ? [] : (await lookAt(runner, statements.look, undone)).filter((record) => record)
  if (left.length > 0) throw swallowed(`${left.length} records were not changed`)
}

function isNotAmong(rows: Answer['rows']): (key: InboxKey) => boolean {
  const names = new Set(rows.map(([handler, key]) => nameOf(handler, key)))
  return ({ handler, key }) => !names.has(nameOf(handler, key))
}

function withoutBorn({ handler, key }: InboxKey): InboxKey {
  return { handler, key }
}
