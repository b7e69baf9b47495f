import type { Progress } from '../testing/index.ts'
import type { Output } from './terminal.ts'

const barWidth = 20
const everyMs = 50

/** One line that is overwritten repeatedly. Prints nothing if the output is not a terminal. */
export function progressLine(err: Output): { show(progress: Progress): void; clear(): void } {
  let shownAt = Number.NEGATIVE_INFINITY
  if (!err.isTTY) return { show() {}, clear() {} }
  return {
    show({ done, total, doing }) {
      const now = performance.now()
      if (now - shownAt < everyMs) return
      shownAt = now
      const filled = Math.round((done / total) * barWidth)
      const bar = '█'.repeat(filled).padEnd(barWidth, '░')
      err.write(`\r\u001b[K${bar} ${done}/${total}  ${doing.slice(0, 50)}`)
    },
    clear: () => void err.write('\r\u001b[K'),
  }
}
