import { DatabaseSync } from 'node:sqlite'
import { addToBalance, type Exhibit, insertPayment, proofOf } from './payments.ts'

/** A list outside of the database, as a fake mailer keeps it. */
const sentMails: { readonly to: string }[] = []
let handled = 0
let pending: string[] = []

export const sqliteExhibits: readonly Exhibit[] = [
  {
    title: 'sends a mail itself',
    expected: 'writes-outside-tx',
    options: proofOf(
      (message, context) => {
        insertPayment(context, message)
        sentMails.push({ to: message.body.account })
      },
      {
        reset: () => void sentMails.splice(0),
        observe: (db) => ({ payments: db.prepare('SELECT * FROM payments').all(), mails: [...sentMails] }),
      },
    ),
  },
  {
    title: 'writes through a connection of its own',
    expected: 'writes-outside-tx',
    options: {
      ...proofOf(() => {}),
      register(app, { url }) {
        app.on('payment.received', 'book-payment', (message) => {
          const own = new DatabaseSync(url)
          try {
            own.prepare('INSERT INTO payments (id, amount) VALUES (?, 1)').run(message.id)
          } finally {
            own.close()
          }
        })
      },
    },
  },
  {
    title: 'intends another call in each run',
    expected: 'keeps-state',
    options: {
      ...proofOf(() => {}),
      register(app) {
        app.effect('email.receipt', { keyed: true, run() {} })
        app.on('payment.received', 'book-payment', async (message, context) => {
          await context.intend('email.receipt', { to: message.id, number: handled++ })
        })
      },
    },
  },
  {
    title: 'intends with a key made of chance',
    expected: 'reads-randomness',
    options: {
      ...proofOf(() => {}),
      register(app) {
        app.effect('email.receipt', { keyed: true, run() {} })
        app.on('payment.received', 'book-payment', async (message, context) => {
          await context.intend('email.receipt', { to: message.id }, { key: String(Math.random()) })
        })
      },
    },
  },
  {
    title: 'does not await an intent',
    expected: 'not-awaited',
    options: {
      ...proofOf(() => {}),
      register(app) {
        app.effect('email.receipt', { keyed: true, run() {} })
        app.on('payment.received', 'book-payment', (message, context) => {
          insertPayment(context, message as never)
          setTimeout(() => void context.intend('email.receipt', { to: message.id }).catch(() => {}), 1)
        })
      },
    },
  },
  {
    title: 'goes on after a database error',
    expected: 'swallows-error',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      try {
        addToBalance(context, message)
      } catch {
        // "It is only the balance."
      }
    }),
  },
  {
    title: 'leaves siblings running when Promise.all rejects',
    expected: 'runs-on',
    options: proofOf(async (message, context) => {
      const slow = async (): Promise<void> => {
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
        addToBalance(context, message)
      }
      await Promise.all([slow(), (async () => insertPayment(context, message))()])
    }),
  },
  {
    title: 'commits by itself',
    expected: 'commits-itself',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      context.tx.exec('COMMIT')
    }),
  },
  {
    title: 'commits by itself and does not want to know that it may not',
    expected: 'commits-itself',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      try {
        context.tx.exec('COMMIT; BEGIN')
      } catch {
        // "Works on my machine."
      }
    }),
  },
  {
    title: 'writes down the time of day',
    expected: 'reads-clock',
    options: proofOf(({ id }, { tx }) => {
      tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, Date.now())
    }),
  },
  {
    title: 'decides by the clock',
    expected: 'reads-clock',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      if (Math.floor(Date.now() / 3_600_000) % 2 === 0) addToBalance(context, message)
    }),
  },
  {
    title: 'makes up ids',
    expected: 'reads-randomness',
    options: proofOf(({ body }, { tx }) => {
      tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(crypto.randomUUID(), body.amount)
    }),
  },
  {
    title: 'rolls dice',
    expected: 'reads-randomness',
    options: proofOf(({ id }, { tx }) => {
      tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, Math.floor(Math.random() * 1_000_000))
    }),
  },
  {
    title: 'publishes when it has returned',
    expected: 'not-awaited',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      setImmediate(() => context.publish('receipt.wanted', {}).catch(() => {}))
    }),
  },
  {
    title: 'does not await what it starts',
    expected: 'not-awaited',
    options: proofOf((message, context) => {
      insertPayment(context, message)
      void (async () => {
        await new Promise((resolve) => setImmediate(resolve))
        addToBalance(context, message)
      })().catch(() => {})
    }),
  },
  {
    title: 'counts in a variable',
    expected: 'keeps-state',
    options: proofOf(({ id }, { tx }) => {
      tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, ++handled)
    }),
  },
  {
    title: 'keeps a list that it empties after the commit',
    expected: 'keeps-state',
    options: proofOf(({ id }, { tx, afterCommit }) => {
      pending.push(id)
      tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, pending.length)
      afterCommit(() => {
        pending = []
      })
    }),
  },
  {
    title: 'writes down how many came together',
    expected: 'depends-on-batch',
    options: {
      ...proofOf(() => {}),
      register(app) {
        app.onBatch('payment.received', 'book-payments', (messages, { tx }) => {
          const insert = tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)')
          for (const { id } of messages) insert.run(id, messages.length)
        })
      },
    },
  },
]
