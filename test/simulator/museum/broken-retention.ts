import type { ClaimRequest, Retention } from '../../../src/contracts/index.ts'
import { dayMs, hourMs } from '../retained.ts'
import { timedIds } from '../timed-ids.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'
import { horizonIn, onHorizon, onRetention, removeByAge, removeRows, retentionOf, wish } from './on-retention.ts'

/** The real engine on a store that removes records, or looks at the horizon, in a way that cannot work. */
export const brokenRetention: readonly Exhibit[] = [
  {
    name: 'removal-without-a-horizon',
    flaw: 'Old records are deleted, and that is all: a copy that comes later is new to everybody.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    program: onRetention((retention, { store }) => ({
      ...retention,
      raise: (keepMs) => wish(store, keepMs),
      remove: (options) => removeByAge(store, options),
    })),
  },
  {
    name: 'horizon-raised-after-removal',
    flaw: 'First the records go, then the horizon is raised: in between, or after a crash in between, copies run again.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    program: onRetention((retention, { store }) => {
      let wanted = 0
      return {
        ...retention,
        raise(keepMs) {
          wanted = keepMs
          return wish(store, keepMs)
        },
        async remove(options) {
          const step = await removeByAge(store, options)
          await retention.raise(wanted)
          return step
        },
      }
    }),
  },
  {
    name: 'horizon-that-falls',
    flaw: 'The horizon is set to what a process wants: one that wants to keep more takes for new what others have removed.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    program: onRetention((retention, { store }) => ({
      ...retention,
      async raise(keepMs) {
        const wished = await wish(store, keepMs)
        await store.transaction((tx) => tx.update('meta', 'horizon', () => ({ time: wished.horizon.getTime() })))
        return wished
      },
    })),
  },
  {
    name: 'horizon-by-local-clock',
    flaw: 'The horizon is counted from the clock of the process: one that is ahead cuts off what everybody was to keep.',
    caughtAs: 'HORIZON',
    isRetained: true,
    program: onRetention((retention, { process, store }) => ({
      ...retention,
      async raise(keepMs) {
        const { now } = await wish(store, keepMs)
        return await retention.raise(keepMs - (process.clock.now().getTime() - now.getTime()))
      },
    })),
  },
  {
    name: 'settings-instead-of-the-horizon',
    flaw: 'What is too old is decided by the settings of the process: one that is set to keep more accepts what is gone.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    program: onHorizon(({ process, scenario, index }) => {
      const days = scenario.retention?.days[index] ?? Number.POSITIVE_INFINITY
      return async () => process.clock.now().getTime() - days * dayMs
    }),
  },
  {
    name: 'horizon-read-at-the-start',
    flaw: 'The horizon is read once and remembered: a process that has run for long takes for new what was removed meanwhile.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    program: onHorizon(({ store }) => {
      let known: Promise<number> | undefined
      return () => {
        known ??= retentionOf(store)
          .horizon()
          .then((horizon) => horizon?.getTime() ?? 0)
        return known
      }
    }),
  },
  {
    name: 'removes-parked-records',
    flaw: 'A record without a time goes by its age, although its message still waits for its retry: a copy runs, and that.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    broughtOutBy: 'throws-once',
    program: onRetention((retention, { store }) => ({
      ...retention,
      async remove(options) {
        const { timelessBefore } = options
        if (timelessBefore !== undefined)
          await removeRows(store, 'inbox', ({ born, state, processedAt }) => {
            return born === undefined && state === 'parked' && (processedAt as Date) < timelessBefore
          })
        return await retention.remove(options)
      },
    })),
  },
  {
    name: 'parked-messages-removed-with-their-records',
    flaw: 'What is old is tidied away wherever it lies: messages that wait for their retry, or for a person, are gone.',
    caughtAs: 'LOST',
    isRetained: true,
    broughtOutBy: 'throws-once',
    program: onRetention((retention, { store }) => ({
      ...retention,
      async remove(options) {
        await removeRows(store, 'parked', (_, run) => (timedIds.born(run)?.getTime() ?? Infinity) < +options.bornBefore)
        return await retention.remove(options)
      },
    })),
  },
  {
    name: 'too-old-without-a-look',
    flaw: 'Whatever was made before the horizon is called too old, although its record is still there and says more.',
    caughtAs: 'GIVEN UP',
    isRetained: true,
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        async claim(tx, requests) {
          const horizon = await horizonIn(tx)
          const isOld = ({ born }: ClaimRequest) => born !== undefined && born.getTime() < horizon
          const { epoch, existing } = await store.inbox.claim(tx, requests)
          const tooOld = new Set(requests.flatMap((request, place) => (isOld(request) ? place : [])))
          return { epoch, existing: existing.map((record, place) => (tooOld.has(place) ? undefined : record)), tooOld }
        },
      },
    })),
  },
  {
    name: 'too-old-and-run-all-the-same',
    flaw: 'Nobody asks how old a message is: what may have run before its record was removed runs again.',
    caughtAs: 'TOO OLD',
    isRetained: true,
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        claim: (tx, requests) =>
          store.inbox.claim(
            tx,
            requests.map(({ born, ...request }) => request as ClaimRequest),
          ),
      },
    })),
  },
  {
    name: 'removal-right-up-to-the-horizon',
    flaw: 'Records go as soon as the horizon has passed them: a process that has read it a moment before finds neither.',
    caughtAs: 'DOUBLED',
    isRetained: true,
    frozenAt: 'claim',
    program: (environment) => {
      const remove: Retention['remove'] = ({ bornBefore, ...options }) =>
        retentionOf(environment.store).remove({ ...options, bornBefore: new Date(bornBefore.getTime() + hourMs) })
      onRetention(
        (retention) => ({ ...retention, remove }),
        onHorizon(() => horizonIn),
      )(environment)
    },
  },
]
