const reason = 'the effects of a lease store live elsewhere: they are there at once, and nothing can undo them'

/** Cases that look at effects before the commit, or after they should have been undone. */
export const leaseSkips = [
  'claim: when the first is undone, the one who waited gets the claim',
  'locks: nothing is visible before the commit',
  'locks: a deadlock is a conflict for its victim and leaves nothing of it',
  'transaction: work that throws leaves nothing: no record, no effect, no parked or queued message',
  'transaction: work that throws takes back its changes to what was there before',
  'transaction: failures use up no connections',
  'transaction: two of one store never mix: what one undoes is not the work of the other',
  'abort: a transaction whose work never ends is undone when its signal says so',
  'loan: what is written through it commits with the transaction',
  'within: when the caller rolls back, the record is gone as well',
  'within: work that fails is undone, and the transaction of the caller goes on',
  'within: a savepoint resolves to what its work does, and what joins inside it is a part of it',
  'within: two savepoints that are asked for at once follow each other',
].map((name) => ({ case: name, reason }))
