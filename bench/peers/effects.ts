import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'

/** What the tables show after a run, against what was sent. */
export interface Effects {
  /** Messages that have no effect. */
  readonly lost: number
  /** Effects beyond the first of a message. */
  readonly doubled: number
}

export async function countEffects(pool: Pool, sent: number): Promise<Effects> {
  const { rows } = await pool.query<Record<'entries' | 'transfers' | 'amount' | 'balance', string>>(`
    SELECT count(*) AS entries, count(DISTINCT transfer) AS transfers, coalesce(sum(amount), 0) AS amount,
      (SELECT sum(balance) FROM balances) AS balance
    FROM ledger`)
  const { entries, transfers, amount, balance } = rows[0] as (typeof rows)[0]
  if (amount !== balance) throw new Error(`The ledger says ${amount}, the balances say ${balance}: half an effect.`)
  return { lost: sent - Number(transfers), doubled: Number(entries) - Number(transfers) }
}

export async function countEntries(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS entries FROM ledger')
  return rows[0].entries
}

export interface Patience {
  readonly everyMs: number
  readonly atMostMs: number
}

/** Whether it came true in time. */
export async function until(isTrue: () => Promise<boolean>, { everyMs, atMostMs }: Patience): Promise<boolean> {
  const giveUpAt = performance.now() + atMostMs
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) return false
    await sleep(everyMs)
  }
  return true
}
