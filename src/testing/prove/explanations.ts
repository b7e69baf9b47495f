import type { FailureName } from './failure-names.ts'

export interface Explanation {
  readonly title: string
  /** Why it is a problem, for someone who has never met it. */
  readonly why: string
  readonly change: string
}

const comesAgain = 'A message can be delivered twice, and a process can crash at any moment.'

export const explanations: Readonly<Record<FailureName, Explanation>> = {
  'handler-fails': {
    title: 'The handler fails in an undisturbed run',
    why: 'Without one successful run, there is nothing to compare the other runs with.',
    change: 'Make the handler work first. Often setup(db) does not create a table or a row that the handler needs.',
  },
  'commits-itself': {
    title: 'The handler ends its transaction itself',
    why: 'Whatever follows the COMMIT is no longer part of the transaction, and neither is the record that the message was processed. After a crash in between, half of the work is missing, or it is done twice. justonce therefore refuses it.',
    change:
      'Remove BEGIN, COMMIT and ROLLBACK: return to commit, throw to roll back. For a part that may fail, use SAVEPOINT and ROLLBACK TO. A helper that opens its own transaction needs a variant that takes tx.',
  },
  'writes-outside-tx': {
    title: 'The handler writes outside its transaction',
    why: `${comesAgain} Writes made through tx are then rolled back, so they take effect once. Other writes stay, and are repeated at the next attempt.`,
    change:
      'Write through the tx that the handler is given, in helpers and repositories too: pass tx on instead of using a pool, another connection or an object in memory. For anything that is not in this database (an email, a file, another service), intend() the call and register how it is made with app.effect().',
  },
  'calls-out': {
    title: 'The handler calls something outside the database',
    why: `${comesAgain} The transaction can be rolled back, but the call cannot: it is repeated at every attempt, and it is made even if the message then fails. The transaction also holds its locks while the handler waits for the response.`,
    change:
      "Intend the call instead: await intend('card.charge', …). It commits with the handler, and is made after that as app.effect('card.charge', { run, … }) says: with an idempotency key (keyed), with a probe, or with a person who decides when nobody knows whether it happened. If the call may be lost (refreshing a cache), use afterCommit().",
  },
  'not-awaited': {
    title: 'The handler does not await a query',
    why: 'When the handler returns, its transaction is committed. A later query or publish() is refused, so its write is missing. If a query that is still running fails, the handler never notices.',
    change:
      'Put await before it, or use await Promise.all([…]) for several. Look for forEach(async …), setTimeout and event listeners: nothing waits for those.',
  },
  'runs-on': {
    title: 'Part of the handler keeps running after the handler has failed',
    why: 'Promise.all rejects at the first failure and does not stop the other promises. Their remaining queries run after the transaction was rolled back; on a plain connection, they would end up in the transaction of another message.',
    change:
      'Run them one after the other (for … of with await), or wait for all of them before failing: await Promise.allSettled([…]), then throw if one of them was rejected.',
  },
  'swallows-error': {
    title: 'The handler ignores a database error',
    why: 'The statement had no effect, but the handler reports success: the message counts as processed, and its effect stays incomplete forever. Any statement can fail now and then, with a deadlock or a lost connection.',
    change:
      'Let the error propagate: justonce rolls everything back and tries again. Catch only errors that you expect and can handle, such as a unique violation inside a SAVEPOINT, and rethrow all others.',
  },
  'reads-clock': {
    title: 'The effect depends on the clock',
    why: 'When a message is retried, its effect differs from what it would have been the first time, so the message does not determine its effect.',
    change:
      "Use a time that the message carries: message.sentAt, or a field of its body. If you do want the time of processing, declare it with ignore: ['table.column'] or allow: ['reads-clock'].",
  },
  'reads-randomness': {
    title: 'The effect depends on random values',
    why: 'When a message is retried, it gets different ids. If a log or another service has seen the first ones, it refers to something that does not exist.',
    change:
      "Derive ids from the message: message.id, or derivedId(['invoice', message.id]). If you do want a random value, declare it with ignore: ['table.column'] or allow: ['reads-randomness'].",
  },
  'keeps-state': {
    title: 'The effect depends on state that the handler keeps in memory',
    why: 'That state is lost in a restart, differs between processes, and is not rolled back with the transaction. The same message can then have a different effect.',
    change:
      'Keep the state in the database and read it through tx. A variable outside the handler may hold configuration and connections, but no counters, lists or caches that affect what is written.',
  },
  'depends-on-batch': {
    title: 'The effect depends on which messages share a batch',
    why: 'justonce handles messages together when many are waiting, and one by one when few are. Which messages share a batch is arbitrary.',
    change:
      "Let the handler use only its own message. If it uses something that belongs to the transaction (now(), SET LOCAL, a temporary table), register it with transaction: 'own'.",
  },
  'lost-update': {
    title: 'Two concurrent messages overwrite each other',
    why: 'Both read the old value, both compute a new one, and the second write overwrites the first. This can happen as soon as two processes run.',
    change:
      'Let the database compute the value (UPDATE … SET balance = balance + $1), or lock the rows you read: SELECT … FOR UPDATE.',
  },
  'interleaves-badly': {
    title: 'Two messages that interleave in one transaction disturb each other',
    why: 'With interleave: true, statements of one message run between those of another, in the same transaction. Locks do not keep them apart, not even SELECT … FOR UPDATE: a lock belongs to the transaction.',
    change:
      'Remove interleave from this handler, give messages that touch the same rows the same key, or let one statement do it: UPDATE … SET balance = balance + $1.',
  },
  'effect-lost': {
    title: 'Part of the effect is missing',
    why: 'A message can be interrupted at any moment. After all retries, the result must be the same as if nothing had happened.',
    change: 'Follow the timeline to the first line that you would not expect in a retry.',
  },
  'effect-doubled': {
    title: 'Part of the effect happened twice',
    why: 'A message can be interrupted at any moment. After all retries, the result must be the same as if nothing had happened.',
    change:
      'Find the write that both attempts made. Usually it does not go through tx, or it is made by something that outlives the handler.',
  },
  'effect-differs': {
    title: 'The effect differs from that of the undisturbed run',
    why: 'A message can be interrupted at any moment. After all retries, the result must be the same as if nothing had happened.',
    change: 'Follow the timeline to the first line that you would not expect in a retry.',
  },
  'never-settled': {
    title: 'A message is redelivered forever and never processed',
    why: 'It would block the messages behind it, or end as a dead letter.',
    change: 'Look at the error in the timeline: something is still broken after the first failure.',
  },
}
