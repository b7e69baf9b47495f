import type { CaseNeed, StoreCase, StoreCaseContext } from './store-case.ts'

type Meets = (context: StoreCaseContext<never>) => boolean

const needs: Record<CaseNeed, { readonly met: Meets; readonly without: string }> = {
  atomic: { met: ({ store }) => store.guarantee === 'atomic', without: 'the store is not atomic' },
  parts: { met: ({ store }) => store.parts !== undefined, without: 'the store has no parts' },
  'travelling-parts': {
    met: ({ store }) => store.parts?.travels === true,
    without: 'what is run behind a boundary waits for it',
  },
  limits: { met: ({ store }) => store.limits !== undefined, without: 'the store has no limits' },
  positions: { met: ({ store }) => store.positions !== undefined, without: 'the store keeps no positions' },
  retention: { met: ({ store }) => store.retention !== undefined, without: 'the store removes no records' },
  queue: { met: ({ store }) => store.queue !== undefined, without: 'the store has no queue' },
  'queue-list': { met: ({ store }) => store.queue?.list !== undefined, without: 'its queue cannot be looked at' },
  'queue-listen': { met: ({ store }) => store.queue?.listen !== undefined, without: 'its queue cannot listen' },
  'queue-announce': { met: ({ store }) => store.queue?.announce !== undefined, without: 'its queue cannot announce' },
  revocable: { met: ({ store }) => store.capabilities.revocable, without: 'the store cannot revoke a tx' },
  interleaves: {
    met: ({ store }) => store.capabilities.interleaves === true,
    without: 'the store lends a transaction to one borrower at a time',
  },
  concurrent: {
    met: ({ store }) => store.capabilities.connections > 1,
    without: 'the store has one transaction open at a time',
  },
  'few-connections': {
    met: ({ store }) => store.capabilities.connections <= 20,
    without: 'the store has too many connections to use them all',
  },
  'bad-write': given('writeBadly'),
  'ruinous-write': given('writeRuinously'),
  'deferred-failure': given('writeFailingAtCommit'),
  'row-locks': given('lock'),
  commit: given('commit'),
  controls: given('controls'),
  'own-savepoint': given('inSavepoint'),
  'savepoint-names': given('savepoints'),
  'prepared-write': given('prepareWrite'),
  cut: given('cut'),
  'native-transaction': given('transaction'),
  'empty-database': { met: ({ openEmpty }) => openEmpty !== undefined, without: 'the driver gives no openEmpty' },
  backup: { met: ({ backUp }) => backUp !== undefined, without: 'the driver gives no backUp' },
  clock: { met: ({ moveClock }) => moveClock !== undefined, without: 'the driver gives no moveClock' },
  poisoning: declared('poisoning', 'a failed statement does not spoil its transaction'),
  'async-calls': declared('async-calls', 'the native client is synchronous'),
  'idle-timeout': declared('idle-timeout', 'the database does not end silent holders'),
  'strict-isolation': declared('strict-isolation', 'the database has no stricter isolation to join'),
  'last-writes': declared('last-writes', 'its commits take no writes along'),
  tables: declared('tables', 'the store has no tables'),
}

function given(member: keyof StoreCaseContext<never>['effects']): { met: Meets; without: string } {
  return { met: ({ effects }) => effects[member] !== undefined, without: `the driver gives no effects.${member}` }
}

function declared(need: CaseNeed, without: string): { met: Meets; without: string } {
  return { met: ({ declares }) => declares?.some((each) => each === need) ?? false, without }
}

/** Why a case does not apply to this store. `undefined` if it does. */
export function unmetNeed<Tx>(each: StoreCase, context: StoreCaseContext<Tx>): string | undefined {
  const missing = each.needs?.find((need) => !needs[need].met(context as unknown as StoreCaseContext<never>))
  return missing === undefined ? undefined : needs[missing].without
}
