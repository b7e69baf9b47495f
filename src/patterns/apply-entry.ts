import { JustonceError } from '../errors/index.ts'
import { checkRounds, insertFrom } from './insert-once.ts'
import {
  type Books,
  checkSame,
  columnsOf,
  type Entry,
  findEntry,
  isSameAmount,
  keptAmount,
  rowOf,
  severalBalances,
  uniqueOf,
} from './ledger.ts'
import { columnList, keyOf, tableName, whereOf } from './sql/conditions.ts'
import { isDuplicateKey } from './sql/duplicate-key.ts'
import { checkAmount } from './sql/exact-number.ts'
import { Exact, type Fragment, Name, sql } from './sql/fragment.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'

/** What `applyEntry()` and `transfer()` answer. */
export type Applied =
  | { readonly kind: 'applied' }
  /** It was made before: this is the entry as it is. */
  | { readonly kind: 'duplicate'; readonly row: Row }
  /** The balance would fall below its limit: nothing was changed. */
  | { readonly kind: 'refused'; readonly balance: unknown }
  /** There is no such account: nothing was changed. */
  | { readonly kind: 'missing'; readonly account: unknown }

/**
 * Makes one entry and changes the balance of its account, once for each (transfer, account). Amounts stay exact: the database
 * computes, not JavaScript. The ledger is only added to. An entry with another amount under the same id is refused (`KEY_REUSED`).
 *
 * ```ts
 * await applyEntry(tx, { ledger: 'entries', balances: 'accounts' }, { transfer: message.id, account: 7, amount: '12.50' })
 * ```
 */
export async function applyEntry(tx: unknown, books: Books, entry: Entry): Promise<Applied> {
  const runner = runnerOf(tx)
  const parts = partsOf(books, entry)
  for (let round = 1; ; round++) {
    const outcome = await (runner.dialect === 'postgres' ? atOnce : inSteps)(runner, books, entry, parts)
    if (outcome !== 'again') return outcome
    checkRounds(round, parts.ledger, parts.unique)
  }
}

/** `again`: somebody else was there in the same moment, and the answer would not be about one state. */
type Attempt = (runner: Runner, books: Books, entry: Entry, parts: Parts) => Promise<Applied | 'again'>

type Parts = ReturnType<typeof partsOf>

function partsOf(books: Books, entry: Entry) {
  const names = columnsOf(books)
  const { atLeast = 0 } = entry
  if (atLeast !== null) checkAmount(atLeast, 'atLeast of an entry')
  const row = rowOf(books, entry)
  const unique = uniqueOf(books)
  return {
    ...{ ledger: tableName(books.ledger), balances: tableName(books.balances), row, unique },
    ...{ transfer: new Name([names.transfer]), amount: new Name([names.amount]), balance: new Name([names.balance]) },
    ofEntry: whereOf(keyOf(row, unique)),
    ofAccount: whereOf({ [names.account]: entry.account }),
    within: (sum: Fragment) => (atLeast === null ? sql`${sum} IS NOT NULL` : sql`${sum} >= ${new Exact(atLeast)}`),
  }
}

const ours = ['entered', 'moved', 'fits', 'same', 'accounts', 'balance', 'room', 'steady'].map(
  (name) => `justonce_${name}`,
)

/**
 * The balance is locked first, so that copies and rivals wait. The statement does not see what they have done until it has the
 * lock, so an answer other than `applied` counts only if the balance is what it was when the statement began.
 */
const atOnce: Attempt = async (runner, books, entry, parts) => {
  const { ledger, balances, transfer, amount, balance, row, unique, ofEntry, ofAccount, within } = parts
  const kept = sql`(SELECT amount FROM justonce_kept)`
  const [entered, moved, fits, same, accounts, present, room, steady] = ours.map((name) => new Name([name]))
  const [found = {}] = await runner.rows(
    sql`
    WITH justonce_kept AS (
      SELECT ${keptAmount(books, entry.amount)} AS amount
    ), justonce_locked AS (
      SELECT ${balance} AS balance FROM ${balances}
      WHERE ${ofAccount} AND NOT EXISTS (SELECT FROM ${ledger} WHERE ${ofEntry}) FOR NO KEY UPDATE
    ), justonce_entry AS (
      ${insertFrom(ledger, row)} FROM justonce_locked WHERE ${within(sql`(balance + ${kept})`)}
      ON CONFLICT (${columnList(unique)}) DO NOTHING RETURNING ${amount} AS amount
    ), justonce_change AS (
      UPDATE ${balances} SET ${balance} = ${balance} + (SELECT amount FROM justonce_entry)
      WHERE ${ofAccount} AND EXISTS (SELECT FROM justonce_entry) RETURNING ${within(sql`${balance}`)} AS fits
    )
    SELECT (SELECT count(*) FROM justonce_entry)::int AS ${entered}, (SELECT count(*) FROM justonce_change)::int AS ${moved},
      (SELECT bool_and(fits) FROM justonce_change) AS ${fits},
      CASE WHEN ${transfer} IS NOT NULL THEN ${isSameAmount('postgres', books, entry.amount)} END AS ${same},
      (SELECT count(*) FROM justonce_locked)::int AS ${accounts},
      (SELECT balance FROM justonce_locked LIMIT 1) AS ${present},
      (SELECT bool_or(${within(sql`(balance + ${kept})`)}) FROM justonce_locked) AS ${room},
      ARRAY(SELECT balance FROM justonce_locked) IS NOT DISTINCT FROM ARRAY(SELECT ${balance} FROM ${balances} WHERE ${ofAccount}) AS ${steady},
      ${ledger}.*
    FROM (SELECT) AS justonce_one LEFT JOIN ${ledger} ON ${ofEntry}`,
    ...ours,
  )
  const [isEntered, hasMoved, isWithin, isSame, locked, now, hasRoom, isSteady] = ours.map((name) => found[name])
  if (isEntered === 1) return moving(hasMoved as number, isWithin === true, entry)
  if (isSame !== null) {
    checkSame(isSame, entry)
    return {
      kind: 'duplicate',
      row: Object.fromEntries(Object.entries(found).filter(([name]) => !ours.includes(name))),
    }
  }
  if (isSteady !== true || hasRoom === true) return 'again'
  return short(locked as number, now, entry)
}

/** SQLite has one writer, and MySQL locks the balance with the first statement: nobody comes in between. */
const inSteps: Attempt = async (runner, books, entry, parts) => {
  const { ledger, balances, amount, balance, row, unique, ofEntry, ofAccount, within } = parts
  const given = new Exact(entry.amount)
  const kept = sql`(SELECT ${amount} FROM ${ledger} WHERE ${ofEntry})`
  const insert = sql`${insertFrom(ledger, row)} FROM ${balances} WHERE ${ofAccount} AND ${within(sql`(${balance} + ${given})`)}`
  const isMysql = runner.dialect === 'mysql'
  const ending = isMysql ? sql` FOR UPDATE` : sql` ON CONFLICT (${columnList(unique)}) DO NOTHING`
  const { entered, error } = await enteredBy(runner, sql`${insert}${ending}`)
  if (entered > 0) {
    const change = sql`UPDATE ${balances} SET ${balance} = ${balance} + ${kept} WHERE ${ofAccount} AND ${within(sql`(${balance} + ${kept})`)}`
    const moved = await runner.change(change)
    return moving(moved, moved > 0, entry)
  }
  const known = await findEntry(runner, books, entry)
  if (known !== undefined) return { kind: 'duplicate', row: known }
  const lock = isMysql ? sql` LOCK IN SHARE MODE` : sql``
  const room = sql`coalesce(${within(sql`(${balance} + ${given})`)}, false)`
  const look = sql`SELECT ${balance} AS balance, ${room} AS room FROM ${balances} WHERE ${ofAccount}${lock}`
  const found = await runner.rows(look, 'balance', 'room')
  if (found.length === 1 && Number(found[0]?.room) === 1) {
    if (error !== undefined) throw error
    return 'again'
  }
  return short(found.length, found[0]?.balance, entry)
}

/** MySQL has no ON CONFLICT for one index: which one was in the way is seen afterwards. */
async function enteredBy(runner: Runner, insert: Fragment): Promise<{ entered: number; error?: unknown }> {
  try {
    return { entered: await runner.change(insert) }
  } catch (error) {
    if (isDuplicateKey(error)) return { entered: 0, error }
    throw error
  }
}

/** Thrown, so that all of it is rolled back. */
function moving(moved: number, isWithin: boolean, entry: Entry): Applied {
  if (moved > 1) throw severalBalances(entry.account)
  if (moved === 1 && isWithin) return { kind: 'applied' }
  throw new JustonceError('OPTION_INVALID', {
    message: `An entry of ${entry.amount} for account ${entry.account} was made, but with it the balance did not become what it must be: a column with fewer digits or a trigger keeps another amount.`,
  })
}

function short(accounts: number, balance: unknown, { account }: Entry): Applied {
  if (accounts > 1) throw severalBalances(account)
  return accounts === 0 ? { kind: 'missing', account } : { kind: 'refused', balance }
}
