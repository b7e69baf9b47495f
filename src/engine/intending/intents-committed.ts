import { effectOf } from '../../encoding/intent-name.ts'
import type { Engine } from '../engine.ts'
import type { ClaimedIntents } from './store-intents.ts'

/** Called when the transaction of intents has committed. */
export function intentsCommitted(
  { events, wake }: Pick<Engine<never>, 'wake'> & { readonly events: Pick<Engine<never>['events'], 'emit'> },
  { rows, duplicates }: ClaimedIntents,
): void {
  for (const { handler, key } of duplicates) events.emit({ kind: 'intent-duplicate', effect: effectOf(handler), key })
  if (rows.length > 0) wake('intents')
}
