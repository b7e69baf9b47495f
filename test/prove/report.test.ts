import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Progress, prove } from '../../src/testing/index.ts'
import { addToBalance, insertPayment, payments, proofOf } from './museum/payments.ts'

/** Only how long it took is another thing every time. */
function withoutTimes(report: string): string {
  return report.replace(/in \d+\.\d\d s \(\d+ a second\)/, 'in … s (… a second)')
}

test('a report tells what was done, what was seen, why it matters, what to change and what happened', async () => {
  const proof = await prove(
    proofOf(
      (message, context) => {
        insertPayment(context, message)
        try {
          addToBalance(context, message)
        } catch {
          // "It is only the balance."
        }
      },
      { messages: payments.slice(0, 1) },
    ),
  )
  expect(withoutTimes(proof.report)).toMatchInlineSnapshot(`
    "NOT PROVEN. 35 runs on sqlite in … s (… a second).

    ✗ 1 book-payment: The handler ignores a database error (swallows-error)

    p1  payment.received → book-payment

                                                            crash   crash  transient     copy in     answer
      at this step                                          before  after    error    other process   lost
      claim                                                   ✓       ✓        ✓            ✓
      query 1  INSERT INTO payments (id, amount) VALUES …     ✓       ✓        ✓            ✓
      query 2  UPDATE accounts SET balance = balance + ?…     ✓       ✓       ✗ 1           ✓
      commit                                                  ✓       ✓        ✓            ✓          ✓
      ack                                                     ✓       ✓        ✓            ✓

      ✓   it is delivered twice in one batch
      ✓   it is redelivered after success
      ✓   it is redelivered after a restart
      ✓   it shares a batch with a message that fails before it
      ✓   it shares a batch with a message that fails after it

    All messages together

      ✓   When a transaction is rolled back, nothing of it remains
      –   All messages in one batch have the same effect as one by one
          not checked: there is only one message; give two or more
      –   Two concurrent messages do not overwrite each other
          not checked: SQLite allows one writer at a time; run the proof on your production database system

    ✗ 1 book-payment: The handler ignores a database error (swallows-error)

        What was done   transient error at query 2 of p1

        What was seen   A query of book-payment failed, but book-payment returned as if it had succeeded.
                          accounts: { id: 'alice' }  balance is 100 instead of 130

        Why it matters  The statement had no effect, but the handler reports success: the message counts as
                        processed, and its effect stays incomplete forever. Any statement can fail now and then,
                        with a deadlock or a lost connection.

        What to change  Let the error propagate: justonce rolls everything back and tries again. Catch only
                        errors that you expect and can handle, such as a unique violation inside a SAVEPOINT,
                        and rethrow all others.

        What happened   p1 is delivered
                           claim
                           query 1  INSERT INTO payments (id, amount) VALUES (?, ?)   ["p1", 30]
                           query 2  UPDATE accounts SET balance = balance + ? WHERE id = ?   [30, "alice"]
                         ✗ fails: database is locked (made by prove(): a transient error)
                           book-payment returns
                           commit
                           ack
    "
  `)
})

test('two messages to which the same happened are shown once', async () => {
  const proof = await prove(proofOf(() => {}))
  expect(withoutTimes(proof.report)).toMatchInlineSnapshot(`
    "PROVEN: book-payment. 48 runs on sqlite in … s (… a second).
    Under every fault, the effect was the same as in an undisturbed run.

    p1  payment.received → book-payment

                                                           crash   crash  transient     copy in     answer
      at this step                                         before  after    error    other process   lost
      claim                                                  ✓       ✓        ✓            ✓
      commit                                                 ✓       ✓        ✓            ✓          ✓
      ack                                                    ✓       ✓        ✓            ✓

      ✓   it is delivered twice in one batch
      ✓   it is redelivered after success
      ✓   it is redelivered after a restart
      ✓   it shares a batch with a message that fails before it
      ✓   it shares a batch with a message that fails after it

    p2  payment.received → book-payment: same as p1

    All messages together

      ✓   When a transaction is rolled back, nothing of it remains
      ✓   All messages in one batch have the same effect as one by one
      –   Two concurrent messages do not overwrite each other
          not checked: SQLite allows one writer at a time; run the proof on your production database system

    Notes
      · The messages changed nothing. If their effect is not in your tables, return it from observe().
    "
  `)
})

test('a crash is shown with the process that comes after it', async () => {
  const refreshed: string[] = []
  const proof = await prove(
    proofOf(
      (message, context) => {
        insertPayment(context, message)
        context.afterCommit(() => refreshed.push(message.id))
      },
      { messages: payments.slice(0, 1), reset: () => void refreshed.splice(0), observe: () => ({ refreshed }) },
    ),
  )
  const [, section] = proof.report.split('    What happened   ')
  expect(section).toMatchInlineSnapshot(`
    "A  p1 is delivered
                        A     claim
                        A     query 1  INSERT INTO payments (id, amount) VALUES (?, ?)   ["p1", 30]
                        A     book-payment returns
                        A     commit
                        A   ✗ the process dies after this
                        B  ↻ uncommitted work of the dead process is rolled back; a new process starts
                        B  p1 is delivered again
                        B     claim
                        B     commit
                        B     ack

        The same at     lost answer to commit of p1; crash before ack of p1; crash after ack of p1
    "
  `)
})

test('a handler that promises less is reported as such', async () => {
  const proof = await prove({
    ...proofOf(() => {}, { messages: payments.slice(0, 1) }),
    register: (app) =>
      app.on('payment.received', { name: 'add', delivery: 'at-least-once' }, (_, { tx }) => {
        tx.prepare("UPDATE accounts SET balance = balance + 1 WHERE id = 'bob'").run()
      }),
  })
  expect(proof.failures.map(({ name }) => name)).toEqual(['effect-differs'])
  expect(proof.report).toContain('add is at-least-once')
})

test('messages that change nothing prove little, and the report says so', async () => {
  const proof = await prove(proofOf(() => {}))
  expect(proof.notes.join()).toContain('The messages changed nothing')
})

test('progress never goes back, and ends where it said', async () => {
  const steps: Progress[] = []
  const proof = await prove(proofOf(() => {}, { onProgress: (progress) => void steps.push(progress) }))
  expect(steps.map(({ done }) => done)).toEqual(steps.map((_, index) => index))
  expect(steps.at(-1)?.total).toBe(proof.runs)
  expect(steps.map(({ doing }) => doing)).toContain('crash after commit of p2')
})

test("several proofs at the same time do not get in each other's way", async () => {
  const { Date: date, fetch, Math: math } = globalThis
  const { random } = math
  const proofs = await Promise.all([
    prove(proofOf((message, context) => insertPayment(context, message))),
    prove(proofOf(({ id }, { tx }) => void tx.prepare('INSERT INTO payments VALUES (?, ?)').run(id, Date.now()))),
    prove(proofOf(() => globalThis.fetch('data:,'))),
  ])
  expect(proofs.map(({ failures }) => failures.map(({ name }) => name))).toEqual([[], ['reads-clock'], ['calls-out']])
  expect([globalThis.Date, globalThis.fetch, Math.random]).toEqual([date, fetch, random])
})

test('a proof can be stopped, and leaves nothing behind', async () => {
  const stopping = new AbortController()
  const places: string[] = []
  const proving = prove({
    ...proofOf(() => {}),
    register(app, { url }) {
      places.push(url)
      app.on('payment.received', 'nothing', () => {})
    },
    signal: stopping.signal,
    onProgress: ({ done }) => done === 3 && stopping.abort(new Error('enough')),
  })
  await expect(proving).rejects.toThrow('enough')
  expect(places.length).toBeGreaterThan(0)
  for (const place of places) expect(existsSync(place)).toBe(false)
})

test.each([
  { options: { ...proofOf(() => {}), messages: [] }, says: 'no messages' },
  { options: { ...proofOf(() => {}), messages: [payments[0], payments[0]] }, says: 'Two messages have the id "p1"' },
  { options: { ...proofOf(() => {}), ignore: ['amount'] }, says: "must be 'table.column'" },
  { options: { ...proofOf(() => {}), alow: [] }, says: 'Did you mean allow?' },
  { options: { ...proofOf(() => {}), allow: ['everything' as never] }, says: 'allow has "everything"' },
])('options that make no sense are refused: $says', async ({ options, says }) => {
  await expect(prove(options)).rejects.toThrow(says)
})

test('a message that no handler takes is not proven', async () => {
  const proof = await prove(proofOf(() => {}, { messages: [{ id: 'x', type: 'unheard.of' }] }))
  expect(proof.failures.map(({ name, seen }) => [name, seen[0]])).toEqual([
    ['handler-fails', expect.stringContaining('No handler is registered for the type "unheard.of"')],
  ])
})
