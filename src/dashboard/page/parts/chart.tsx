import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

export interface Series {
  readonly label: string
  /** The name of a CSS variable. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly Series[]
  shown(value: number): string
}

const height = 150

/** Lines over time. Those who do not see them get the last values as text. */
export function Chart({ title, times, series, shown }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData
  const names = series.map(({ label }) => label).join()

  useEffect(() => {
    const element = place.current as HTMLDivElement
    const make = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, { series, shown, times: times.length }), data, element)
    }
    make()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    // Colours are drawn, not styled.
    const themed = new MutationObserver(make)
    themed.observe(document.documentElement, { attributes: true })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names, times.length])
  useEffect(() => plot.current?.setData(data), [data])

  const last = series.map(({ label, values }) => `${label} ${shownOf(values.at(-1), shown)}`).join(', ')
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <ul>
          {series.map(({ label, colour }) => (
            <li key={label}>
              <i class={`swatch ${colour}`} />
              {label}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}, now: ${last}`} />
    </figure>
  )
}

function shownOf(value: number | null | undefined, shown: (value: number) => string): string {
  return value === null || value === undefined ? 'nothing' : shown(value)
}

interface Drawn extends Pick<ChartProps, 'series' | 'shown'> {
  /** How many there are. */
  readonly times: number
}

function optionsOf(element: HTMLElement, { series, shown, times }: Drawn): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return {
    width: element.clientWidth,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, 0.1)] } },
    axes: [
      { ...axis, size: 24, space: 70, values: (_, ticks) => ticks.map((tick) => timeText(tick)) },
      { ...axis, size: 56, space: 34, values: (_, ticks) => ticks.map((tick) => shown(tick)) },
    ],
    series: [
      {},
      ...series.map(({ label, colour: name }) => ({
        label,
        stroke: colour(name),
        width: 1.5,
        // A minute alone is a point; a line needs two.
        points: { show: times <= 61, size: 3 },
        spanGaps: false,
      })),
    ],
    plugins: [tooltip(series, shown)],
  }
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
}

/** What the lines say where the pointer is. */
function tooltip(series: readonly Series[], shown: (value: number) => string): uPlot.Plugin {
  const box = document.createElement('div')
  box.className = 'chart-tip'
  return {
    hooks: {
      init: (plot) => void plot.over.append(box),
      setCursor(plot) {
        const { idx, left = 0 } = plot.cursor
        box.hidden = idx === null || idx === undefined
        if (idx === null || idx === undefined) return
        const at = new Date((plot.data[0][idx] as number) * 1_000)
        const lines = series.map(({ label }, place) => `${label} ${shownOf(plot.data[place + 1]?.[idx], shown)}`)
        box.textContent = [timeText(at.getTime() / 1_000), ...lines].join('\n')
        const isRight = left > plot.over.clientWidth / 2
        box.style.left = isRight ? 'auto' : `${left + 12}px`
        box.style.right = isRight ? `${plot.over.clientWidth - left + 12}px` : 'auto'
      },
    },
  }
}
