import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { stepType } from './fixtures/consumer-config.ts'
import type { LedgerRow } from './fixtures/open-store.ts'

/** The step that a message is: which of its key, counted from 1. */
export function step(key: string, number: number): OutgoingMessage {
  const body = new TextEncoder().encode(JSON.stringify({ key, number }))
  return { id: `${key}/${number}`, type: stepType, key, body, headers: {}, sentAt: new Date(0) }
}

/** All keys take their first step, then all their second, and so on. */
export function steps(keys: number, each: number): OutgoingMessage[] {
  return Array.from({ length: each }, (_, index) => index + 1).flatMap((number) =>
    Array.from({ length: keys }, (_, key) => step(`k${key + 1}`, number)),
  )
}

/** The first effect of each key that does not follow the one before it, as `was, is`; a lost or second one shows too. */
export function outOfOrder(ledger: readonly LedgerRow[], each: number): string[] {
  const bySerial = [...ledger].sort((a, b) => a.serial - b.serial)
  const last = new Map<string, number>()
  const wrong = new Map<string, string>()
  for (const { message } of bySerial) {
    const [key, number] = message.split('/') as [string, string]
    const before = last.get(key) ?? 0
    if (Number(number) !== before + 1 && !wrong.has(key)) wrong.set(key, `${key}/${before}, ${message}`)
    last.set(key, Number(number))
  }
  for (const [key, number] of last) if (number !== each && !wrong.has(key)) wrong.set(key, `${key}/${number}, end`)
  return [...wrong.values()]
}
