import type { FailureName } from './failure-names.ts'

export interface Explanation {
  readonly title: string
  /** Why it is a problem, for someone who meets it for the first time. */
  readonly why: string
  readonly change: string
}

const comesAgain = 'A message can come twice, and a process can die at any moment.'

export const explanations: Readonly<Record<FailureName, Explanation>> = {
  'handler-fails': {
    title: 'The handler fails although nothing was done to it',
    why: 'Without one run that works there is nothing to compare the others with.',
    change: 'Make it work first. Often only a table or a row is missing that setup(db) should create.',
  },
  'commits-itself': {
    title: 'The handler ends the transaction by itself',
    why: 'What comes after its COMMIT is no longer part of the transaction, and neither is the record that the message was processed: a crash in between does half of the work, or does it twice. justonce refuses it.',
    change:
      'Remove BEGIN, COMMIT and ROLLBACK: return to commit, throw to undo. For a part that may fail use SAVEPOINT and ROLLBACK TO. A helper that opens its own transaction needs a variant that takes tx.',
  },
  'writes-outside-tx': {
    title: 'The handler writes past its transaction',
    why: `${comesAgain} What went through tx is undone then and done once; what went past it stays, and is done again at the next try.`,
    change:
      'Write through the tx that the handler is given, in helpers and repositories too: pass tx on instead of using a pool, another connection or an object in memory. What cannot be in this database (a mail, a file, another service) belongs into a message: publish() it, and let a handler of its own do it.',
  },
  'calls-out': {
    title: 'The handler calls something outside of the database',
    why: `${comesAgain} The transaction can be undone, the call cannot: it is made again at every try, and it is made even if the message then fails. It also holds locks while it waits for the answer.`,
    change:
      "Publish a message instead: await publish('charge.wanted', …), and make the call in a handler of its own with delivery: 'at-least-once', giving message.id to the service as idempotency key. For what may get lost (refreshing a cache) use afterCommit().",
  },
  'not-awaited': {
    title: 'The handler does not wait for a query',
    why: 'When the handler returns, its transaction is committed. A query or a publish() that comes later is refused, and what it wrote is missing; one that fails in the meantime fails unseen.',
    change:
      'Put await before it; wait for several with await Promise.all([…]). Look for forEach(async …), setTimeout and event listeners, which nobody waits for.',
  },
  'runs-on': {
    title: 'A part of the handler goes on after the handler has failed',
    why: 'Promise.all rejects with its first failure and does not stop the others. What they still do comes after the transaction was undone; with a plain connection it would end up in the transaction of another message.',
    change:
      'Run them one after the other (for … of with await), or wait for all before failing: await Promise.allSettled([…]), then throw if one has failed.',
  },
  'swallows-error': {
    title: 'The handler goes on after a database error',
    why: 'The statement has not happened, but the handler says that all went well: the message counts as processed, and its effect is incomplete for ever. Deadlocks and lost connections happen to every statement now and then.',
    change:
      'Let the error out: justonce undoes everything and tries again. Catch only what you know and can answer, such as a unique violation inside a SAVEPOINT, and throw everything else on.',
  },
  'reads-clock': {
    title: 'The effect depends on the clock',
    why: 'A message that is tried again has another effect than it would have had the first time, so nobody can tell from the message what it did.',
    change:
      "Use a time that the message carries: message.sentAt, or a field of its body. If the time of processing is what you want, say so with ignore: ['table.column'] or allow: ['reads-clock'].",
  },
  'reads-randomness': {
    title: 'The effect depends on chance',
    why: 'A message that is tried again gets other ids than the first time. Whoever has seen the first ones (a log, another service) looks for something that does not exist.',
    change:
      "Make ids from the message: message.id, or derivedId(['invoice', message.id]). If a random value is what you want, say so with ignore: ['table.column'] or allow: ['reads-randomness'].",
  },
  'keeps-state': {
    title: 'The effect depends on what the handler remembers in memory',
    why: 'The memory is gone after a restart, another process has another one, and when a transaction is undone the memory is not. The same message then has another effect.',
    change:
      'Keep it in the database and read it through tx. A variable outside of the handler may hold configuration and connections, not counters, lists or caches that decide what is written.',
  },
  'depends-on-batch': {
    title: 'The effect depends on which messages share a batch',
    why: 'justonce handles messages together when many are waiting and one by one when few are. Which ones meet is chance.',
    change:
      "Let the handler look at its own message only. If what it uses is bound to the transaction (now(), SET LOCAL, a temporary table), register it with transaction: 'own'.",
  },
  'lost-update': {
    title: 'Two messages at the same time overwrite each other',
    why: 'Both read the old value, both compute a new one, and the second write wipes out the first. It happens as soon as two processes run.',
    change:
      'Let the database compute (UPDATE … SET balance = balance + $1), or lock what you read: SELECT … FOR UPDATE.',
  },
  'effect-lost': {
    title: 'A part of the effect is missing afterwards',
    why: 'A message may be interrupted at any moment; when everything has been tried again the result must be the same as if nothing had happened.',
    change: 'Follow the timeline to the first line that differs from what you expect of a second try.',
  },
  'effect-doubled': {
    title: 'A part of the effect is there twice',
    why: 'A message may be interrupted at any moment; when everything has been tried again the result must be the same as if nothing had happened.',
    change:
      'Find the write that happened in both tries; usually it does not go through tx, or it is made by something that outlives the handler.',
  },
  'effect-differs': {
    title: 'The effect is another one than in the undisturbed run',
    why: 'A message may be interrupted at any moment; when everything has been tried again the result must be the same as if nothing had happened.',
    change: 'Follow the timeline to the first line that differs from what you expect of a second try.',
  },
  'never-settled': {
    title: 'A message is delivered again and again, and never gets done',
    why: 'It would block those behind it, or end as a dead letter.',
    change: 'Look at the error in the timeline: something stays broken after the first failure.',
  },
}
