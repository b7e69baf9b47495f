const reason = 'the effects of a lease store live elsewhere: they are there at once, and nothing can undo them'

/** Cases that look at effects before the commit, or after they should have been undone. */
export const leaseSkips = [
  'claim: when the first transaction is rolled back, the one that waited gets the claim',
  'locks: nothing is visible before the commit',
  'locks: a deadlock is a conflict for its victim, of which nothing remains',
  'transaction: work that throws leaves nothing: no record, no effect, no parked or queued message',
  'transaction: work that throws also rolls back its changes to what was there before',
  'transaction: failures use up no connections',
  'transaction: two of one store never mix: rolling one back keeps the work of the other',
  'abort: a transaction whose work never ends is rolled back when its signal is aborted',
  'loan: what is written through it commits with the transaction',
  'within: when the caller rolls back, the record is gone as well',
  'within: work that fails is rolled back, and the transaction of the caller continues',
  'within: a savepoint resolves to what its work resolves to, and what joins inside it belongs to it',
  'within: two savepoints requested at once run one after the other',
].map((name) => ({ case: name, reason }))
