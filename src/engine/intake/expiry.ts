import type { Message } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import type { Handler } from '../handler.ts'

/** An error if the message has come too late for the handler. */
export function lateness<Tx>(
  { clock }: Pick<Engine<Tx>, 'clock'>,
  handler: { readonly name: string; readonly expires: Pick<Handler<Tx>['expires'], 'afterMs'> },
  { id, sentAt, expiresAt }: Pick<Message, 'id' | 'sentAt' | 'expiresAt'>,
): JustonceError | undefined {
  const { afterMs } = handler.expires
  if (expiresAt === undefined && afterMs === undefined) return undefined
  const ends = [time(expiresAt), time(sentAt) + (afterMs ?? Number.POSITIVE_INFINITY)]
  const end = Math.min(...ends.filter((each) => !Number.isNaN(each)))
  if (!(clock.now().getTime() > end)) return undefined
  return new JustonceError('MESSAGE_EXPIRED', {
    message: `Message ${id} expired at ${new Date(end).toISOString()}, before handler ${handler.name} could take it.`,
  })
}

/** A time that is missing or is not a date never expires anything. */
function time(moment: Date | undefined): number {
  return moment instanceof Date ? moment.getTime() : Number.NaN
}
