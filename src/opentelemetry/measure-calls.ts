import { BoundedLabels } from '../metrics/bounded-labels.ts'
import type { MeterShape } from './api-shape.ts'
import type { Measurable } from './measure.ts'

/** How long handlers take, as a histogram by the messaging conventions. */
export function measureCalls(meter: MeterShape, { events }: Pick<Measurable, 'events'>): () => void {
  const durations = meter.createHistogram('messaging.process.duration', {
    description: 'Duration of a call of a handler.',
    unit: 's',
  })
  const names = new BoundedLabels(1)
  return events.listen(
    (event) => {
      if (event.kind !== 'called') return
      const [handler = ''] = names.of([event.handler])
      durations.record(event.ms / 1_000, {
        'messaging.system': 'justonce',
        'messaging.operation.name': 'process',
        'justonce.handler': handler,
        // What was thrown has no bounded number of names.
        ...(event.failed && { 'error.type': '_OTHER' }),
      })
    },
    { replacesLog: false },
  )
}
