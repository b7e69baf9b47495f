import type { ClaimRequest, Inbox, InboxRecord, RecordKey } from '../../contracts/index.ts'
import { splitChanges } from '../../encoding/split-changes.ts'
import { JustonceError } from '../../errors/index.ts'
import { text, texts } from './connection.ts'
import { checkResults } from './message-limit.ts'
import { rowName } from './names.ts'
import { claimLetter, partlyLetter, readRecord, unreadable } from './record-value.ts'
import { claimScript } from './scripts/claim.ts'
import type { Transaction } from './transaction.ts'
import type { Transactions } from './transactions.ts'
import { answersInOrder } from './wait-for-rivals.ts'

export function redisInbox<Tx extends object>(transactions: Transactions<Tx>): Inbox<Tx> {
  const { connection, factory, leaseMs } = transactions
  const nameOf = (key: RecordKey): string => `${connection.prefix}inbox:${rowName(key)}`
  const values = async (keys: readonly RecordKey[]): Promise<(string | undefined)[]> => {
    const found = await connection.callEach(['MGET'], keys.map(nameOf))
    return found.map((value) => (value === null ? undefined : text(value)))
  }
  const find = async (keys: readonly RecordKey[]): Promise<(InboxRecord | undefined)[]> =>
    (await values(keys)).map((value, place) => readRecord(value, nameOf(keys[place] as RecordKey)))

  return {
    async claim(tx, requests) {
      const transaction = factory.transactionOf(tx)
      const ourClaim = `${claimLetter}${transaction.token}`
      let epoch = ''
      const claimNames = async (names: readonly string[]): Promise<string[]> => {
        for (const name of names) transaction.asked.claims.add(name)
        const [seen = '', ...answers] = texts(await connection.run(claimScript, transaction.token, leaseMs, ...names))
        if (seen === '') throw unreadable(`${connection.prefix}epoch`)
        epoch = seen
        for (const [place, answer] of answers.entries())
          if (answer === ourClaim) transaction.held.add(names[place] as string)
        return answers
      }
      const answers = await answersInOrder(transaction, requests.map(rowName), claimNames)
      const ours = transaction.claimed()
      const existing = requests.map((request, place) => {
        const answer = answers[place] as string
        const existing = answer === ourClaim ? undefined : readRecord(answer, nameOf(request))
        if (existing !== undefined && !isPartly(answer)) return existing
        return decide(transaction, ours.get(rowName(request)), request, isPartly(answer))
      })
      return { epoch, existing }
    },
    async update(tx, changes) {
      const { steps } = factory.transactionOf(tx)
      const { unclaimed, kept } = splitChanges(changes)
      await checkResults(
        connection,
        kept.flatMap(({ result }) => result ?? []),
      )
      for (const key of unclaimed) steps.push({ kind: 'release', name: rowName(key) })
      for (const change of kept) steps.push({ kind: 'update', change })
    },
    find,
    async forget(tx, keys) {
      const { steps } = factory.transactionOf(tx)
      const found = await values(keys)
      const known = keys.filter((key, place) => {
        const record = readRecord(found[place], nameOf(key))
        return record !== undefined && (record.state !== 'parked' || isPartly(found[place]))
      })
      for (const key of known) steps.push({ kind: 'forget', name: rowName(key) })
      steps.push({ kind: 'epoch' })
      return known.length
    },
  }
}

function isPartly(value: string | undefined): boolean {
  return value?.startsWith(partlyLetter) ?? false
}

/** Decides what it means that no record shows the outcome of a message. A claim that is ours is added to the transaction. */
function decide(
  transaction: Transaction,
  earlier: ClaimRequest | undefined,
  request: ClaimRequest,
  partly: boolean,
): InboxRecord | undefined {
  if (partly && request.willNotRun !== true) {
    throw new JustonceError('PARTLY_APPLIED', {
      message: `Some commands of handler ${request.handler} for ${request.key} failed, and others were applied.`,
      details: { records: [{ handler: request.handler, key: request.key }], errors: [] },
    })
  }
  if (earlier !== undefined) {
    const { state, result } = transaction.changed(rowName(request))
    return { state, fingerprint: earlier.fingerprint, processedAt: new Date(), result }
  }
  transaction.steps.push({ kind: 'claim', request, isPartly: partly })
  return undefined
}
