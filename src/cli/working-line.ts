import { spanOf } from './output/wording.ts'
import type { Output } from './terminal.ts'

const everyMs = 1_000

export interface WorkingLine {
  /** What is being done now. */
  show(doing: string): void
}

/** While work goes on, a line of a terminal says what is done, and for how long already. Where there is no terminal it says nothing. */
export async function whileWorking<T>(err: Output, doing: string, work: (line: WorkingLine) => Promise<T>): Promise<T> {
  if (!err.isTTY) return await work({ show() {} })
  const begunAt = performance.now()
  let said = doing
  const write = (): void => {
    const forMs = performance.now() - begunAt
    const text = forMs < everyMs ? said : `${said}, for ${spanOf(forMs)}`
    // A line that breaks cannot be overwritten.
    err.write(`\r\u001b[K${text.slice(0, (err.columns ?? 80) - 1)}`)
  }
  write()
  const timer = setInterval(write, everyMs)
  try {
    return await work({
      show(now) {
        said = now
        write()
      },
    })
  } finally {
    clearInterval(timer)
    err.write('\r\u001b[K')
  }
}
