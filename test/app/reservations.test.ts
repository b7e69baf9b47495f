import { expect, test } from 'vitest'
import type { Participant, ReservationCall } from '../../src/index.ts'
import { note, openApp } from './open-app.ts'

/** Knows what is set aside in it and what was taken, and can be away. */
function resource() {
  const self = { held: new Set<string>(), taken: new Set<string>(), isAwayFor: (_: string) => false }
  const reached = ({ id }: ReservationCall): string => {
    if (self.isAwayFor(id)) throw new Error('ECONNREFUSED')
    return id
  }
  const participant: Participant = {
    try: (call) => void self.held.add(reached(call)),
    confirm(call) {
      if (self.held.delete(reached(call))) self.taken.add(call.id)
    },
    cancel: (call) => void self.held.delete(reached(call)),
  }
  return Object.assign(self, { participant })
}

function openOrders() {
  const opened = openApp()
  const [stock, credit] = [resource(), resource()]
  const participants = { stock: stock.participant, credit: credit.participant }
  opened.app.reservation('order', { participants, timeoutMs: 60_000 })
  opened.app.on('note.created', 'reserve', async ({ id }, { intend }) => void (await intend('order', {}, { key: id })))
  return { ...opened, stock, credit }
}

const orders = Array.from({ length: 12 }, (_, index) => note(`order ${index}`))
/** Between two attempts. */
const longestWaitMs = 30_000

test('what many reservations have set aside is given back in time although a participant is away', async () => {
  const { handle, clock, stock, credit, app } = openOrders()
  stock.isAwayFor = () => true
  await handle(...orders)
  await clock.advance(5_000)
  expect(credit.held.size).toBe(orders.length)
  await clock.advance(60_000 + longestWaitMs)
  expect(credit.held.size).toBe(0)
  stock.isAwayFor = () => false
  await clock.advance(2 * longestWaitMs)
  expect(await app.operations.intents.list()).toEqual([])
})

test('a reservation does not wait for others whose participants are away', async () => {
  const { handle, clock, stock, credit } = openOrders()
  const away = new Set<string>()
  stock.isAwayFor = (id) => away.has(id)
  const { try: tryStock } = stock.participant
  stock.participant.try = (call) => {
    tryStock(call)
    // From now on: it is confirmed for as long as it takes.
    away.add(call.id)
  }
  await handle(...orders)
  await clock.advance(600_000)
  expect(credit.taken.size).toBe(orders.length)
  stock.participant.try = tryStock
  await handle(note('one more'))
  await clock.advance(5_000)
  expect(stock.taken.size).toBe(1)
  away.clear()
  await clock.advance(2 * longestWaitMs)
  expect(stock.taken.size).toBe(orders.length + 1)
})
