import type { Retention, Store } from '../../contracts/index.ts'
import { databaseNow } from '../../facts/index.ts'
import { auditUpkeep } from '../../operations/index.ts'
import { UsageError } from '../command.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import { counted, timeOf } from '../output/wording.ts'
import { removeRecords } from '../remove-records.ts'

const dayMs = 86_400_000

const days = { kind: 'number', text: 'how many days records of ids with a time are kept' } as const

export const retentionCommand = operatorCommand(
  {
    name: 'retention',
    summary: 'says what would be removed, removes it, or repairs the horizon',
    about: 'Old records are removed by a running app that has the option retention. These are for doing it by hand.',
  },
  {
    name: 'plan',
    summary: 'says what run would do, and changes nothing',
    options: { days },
    check: (given) => void keepMsOf({ given }),
    async run(desk) {
      const { store, show } = desk
      const horizon = await retentionOf(store).horizon()
      const wanted = new Date((await databaseNow(store)).getTime() - keepMsOf(desk))
      const isFurther = horizon === undefined || wanted > horizon
      show({ horizon: horizon ?? null, wanted, raises: isFurther }, () =>
        isFurther
          ? `The horizon is ${said(horizon)}. It would be raised to ${timeOf(wanted)}: messages from before that are TOO_OLD_TO_KNOW unless they have a record, and records from an hour before it are removed.\n`
          : `The horizon is ${said(horizon)}, later than ${timeOf(wanted)}: it would stay, and only what is left from before it is removed.\n`,
      )
      return 0
    },
  },
  {
    name: 'run',
    summary: 'raises the horizon and removes the records from before it',
    options: { days },
    changes: true,
    asks: true,
    check: (given) => void keepMsOf({ given }),
    async run(desk) {
      const { store, confirm, show, signed, terminal } = desk
      const retention = retentionOf(store)
      const keepMs = keepMsOf(desk)
      await confirm(`Records of messages older than ${keepMs / dayMs} days will be removed. Remove them?`)
      const { horizon, now, doubt } = await retention.raise(keepMs)
      if (doubt !== undefined || horizon === undefined)
        throw new UsageError(
          `the clock of the database says ${timeOf(now)} and cannot be believed yet: it said ${timeOf(doubt?.seen)} when it was last read. Nothing was removed.`,
        )
      // Before anything is gone: what is removed cannot be brought back, and the entry is all that says who wanted it.
      await auditUpkeep(store, { action: 'remove-records', subject: { days: keepMs / dayMs, horizon } }, signed)
      const removed = await removeRecords(retention, horizon, terminal.err)
      show({ removed, horizon }, () => `${counted(removed, 'record')} removed. The horizon is ${timeOf(horizon)}.\n`)
      return 0
    },
  },
  {
    name: 'repair-horizon',
    summary: 'lowers the horizon to where records were really removed, after a wrong clock',
    about: `Lowers the horizon to the point up to which records were really removed. Use it when a wrong clock has raised it too far,
so that healthy messages are parked as TOO_OLD_TO_KNOW: correct the clock, repair the horizon, then redrive those letters.
A running app raises it again by itself, to where it belongs. A message whose record was removed still does not run again.`,
    changes: true,
    async run({ store, show, signed }) {
      const { before, horizon } = await retentionOf(store).repairHorizon()
      const subject = { before: before ?? null, horizon: horizon ?? null }
      await auditUpkeep(store, { action: 'repair-horizon', subject }, signed)
      show(subject, () => `The horizon was ${said(before)}. Now it is ${said(horizon)}.\n`)
      return 0
    },
  },
)

function retentionOf({ retention, name }: Store): Retention {
  if (retention === undefined) throw new UsageError(`the ${name} store has no horizon.`)
  return retention
}

function keepMsOf({ given }: Pick<Desk, 'given'>): number {
  const wanted = given.number('days')
  if (wanted === undefined || !(wanted >= 1))
    throw new UsageError('how many days are records kept? Give --days, 1 or more.')
  return wanted * dayMs
}

function said(horizon: Date | undefined): string {
  return horizon === undefined ? 'not set: no record has been removed' : horizon.toISOString()
}
