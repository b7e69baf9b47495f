import type { WriteStream } from 'node:tty'
import type { Side } from './side.ts'
import { bar, duration, thousands } from './wording.ts'

/** Shows how far the sides have come while they run. */
export interface Screen {
  draw(sides: readonly Side[]): void
  /** Leaves the last picture on the screen and the cursor below it. */
  end(sides: readonly Side[]): void
}

type Output = Pick<WriteStream, 'write' | 'isTTY' | 'columns'>

export function openScreen(output: Output, plannedKills: number): Screen {
  const meters = new Map<Side, Meter>()
  const lines = (sides: readonly Side[], width: number): string[] =>
    sides.map((side) => {
      const meter = meters.get(side) ?? new Meter()
      meters.set(side, meter)
      meter.look(side)
      return meter.line(side, plannedKills, width)
    })
  return output.isTTY && process.env.TERM !== 'dumb' ? redrawing(output, lines) : lineByLine(output, lines)
}

type Lines = (sides: readonly Side[], width: number) => string[]

function redrawing(output: Output, lines: Lines): Screen {
  let height = 0
  const draw = (sides: readonly Side[]): void => {
    const width = (output.columns || 80) - 1
    const picture = lines(sides, width).map((line) => `\x1b[2K${line.slice(0, width)}\n`)
    output.write(`\x1b[?25l${height > 0 ? `\x1b[${height}A` : ''}${picture.join('')}`)
    height = picture.length
  }
  return {
    draw,
    end(sides) {
      draw(sides)
      output.write('\x1b[?25h')
    },
  }
}

/** For logs and pipes: the same lines, but only now and then, and none of them twice. */
function lineByLine(output: Output, lines: Lines): Screen {
  const shown = new Set<string>()
  let shownAt = performance.now()
  const show = (picture: readonly string[]): void => {
    for (const line of picture) if (!shown.has(line)) output.write(`${line}\n`)
    for (const line of picture) shown.add(line)
  }
  return {
    draw(sides) {
      const now = performance.now()
      const picture = lines(sides, 79)
      if (now - shownAt < 2_000) return
      shownAt = now
      show(picture)
    },
    end: (sides) => show(lines(sides, 79)),
  }
}

/** One side's line, with its rate over the last second or two. */
class Meter {
  readonly #begunAt = performance.now()
  #samples: { at: number; consumed: number }[] = []
  #tookMs: number | undefined

  look({ progress: { consumed, isDone } }: Side): void {
    const now = performance.now()
    if (isDone) this.#tookMs ??= now - this.#begunAt
    this.#samples = [...this.#samples.filter(({ at }) => now - at < 1_500), { at: now, consumed }]
  }

  line({ name, progress }: Side, plannedKills: number, width: number): string {
    const { consumed, total, kills } = progress
    const done = consumed / total
    const running = `${thousands(this.#rate())}/s  ${duration(performance.now() - this.#begunAt)}`
    const pace = this.#tookMs === undefined ? running : `done in ${duration(this.#tookMs)}`
    const facts = `${String(Math.floor(done * 100)).padStart(3)}%  ${kills}/${plannedKills} kills  ${pace}`
    return `  ${name.padEnd(8)}  ${bar(done, Math.max(5, Math.min(30, width - 48)))} ${facts}`
  }

  #rate(): number {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.at - first.at < 100) return 0
    return Math.round(((last.consumed - first.consumed) / (last.at - first.at)) * 1_000)
  }
}
