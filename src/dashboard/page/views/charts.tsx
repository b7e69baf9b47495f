import { useMemo } from 'preact/hooks'
import { millis, rate } from '../format.ts'
import { Chart, type Series } from '../parts/chart.tsx'
import type { Minute } from '../wire.ts'

/** What happened minute by minute. It comes from the store, so that a reload or a restart loses nothing of it. */
export function Charts({ history = [] }: { readonly history: readonly Minute[] | undefined }) {
  const { times, flow, latency, batches, leaving } = useMemo(() => chartsOf(history), [history])
  return (
    <div class="charts">
      <Chart title="Messages per second" times={times} series={flow} shown={rate} />
      <Chart title="How long handlers take" times={times} series={latency} shown={millis} />
      <Chart title="Messages per batch" times={times} series={batches} shown={rate} />
      <Chart title="Leaving, per second" times={times} series={leaving} shown={rate} />
    </div>
  )
}

/** A minute that has only just begun would look like a fall: processes report every few seconds. */
const youngestMs = 15_000

function chartsOf(all: readonly Minute[]) {
  const isYoung = Date.now() - Date.parse(all.at(-1)?.at ?? '') < youngestMs
  const history = isYoung ? all.slice(0, -1) : all
  const line = (label: string, colour: string, of: (minute: Minute) => number | undefined): Series => ({
    label,
    colour,
    values: history.map((minute) => of(minute) ?? null),
  })
  // The last minute is still running.
  const perSecond = (value: number, at: string): number => {
    const seconds = Math.min(60, Math.max(5, (Date.now() - Date.parse(at)) / 1_000))
    return value / seconds
  }
  return {
    times: history.map(({ at }) => Date.parse(at) / 1_000),
    flow: [
      line('processed', 'blue', ({ processed, at }) => perSecond(processed, at)),
      line('duplicates', 'violet', ({ knownHere, knownInStore, at }) => perSecond(knownHere + knownInStore, at)),
      line('failed', 'red', ({ failed, at }) => perSecond(failed, at)),
      line('retried', 'amber', ({ retried, at }) => perSecond(retried, at)),
    ],
    latency: [line('half', 'blue', ({ p50Ms }) => p50Ms), line('99 of 100', 'amber', ({ p99Ms }) => p99Ms)],
    batches: [
      line('average', 'blue', ({ batches, batchMessages }) => (batches === 0 ? undefined : batchMessages / batches)),
      line('largest', 'violet', ({ batches, largestBatch }) => (batches === 0 ? undefined : largestBatch)),
    ],
    leaving: [
      line('published', 'violet', ({ published, at }) => perSecond(published, at)),
      line('sent', 'blue', ({ sent, at }) => perSecond(sent, at)),
      line('could not be sent', 'red', ({ unsent, at }) => perSecond(unsent, at)),
    ],
  }
}
