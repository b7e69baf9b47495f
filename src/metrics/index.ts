import type { Events, Store } from '../contracts/index.ts'
import { type Operations, operations } from '../operations/index.ts'
import { countersOf, type WithEvents } from './process-counters.ts'
import { storeGauges } from './store-gauges.ts'

/** An app, or what operators have of a store. */
export interface Measured {
  readonly operations: Operations
  /** If given, what happens is counted. */
  readonly events?: Pick<Events, 'listen'>
}

/** Begins to count what an app does. `prometheusText` does it, too, when it is called for the first time. */
export function countEvents(app: WithEvents): void {
  countersOf(app)
}

/**
 * The metrics of a store, or of a store and of the app's own process, in the text format of Prometheus (version 0.0.4).
 *
 * ```ts
 * http.createServer(async (_, response) => response.end(await prometheusText(app)))
 * ```
 */
export async function prometheusText(source: Store | Measured): Promise<string> {
  if (!('operations' in source)) return (await storeGauges(operations(source))).text()
  const { events } = source
  const own = events === undefined ? undefined : countersOf(source as WithEvents)
  const gauges = await storeGauges(source.operations)
  return (own?.text() ?? '') + gauges.text()
}

/** The content type of the text. */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8'
