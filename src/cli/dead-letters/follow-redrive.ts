import { setTimeout as sleep } from 'node:timers/promises'
import type { Desk } from '../operator-command.ts'
import { progressLine } from '../progress-line.ts'

const everyMs = 500

/** Shows how far a redrive is until it has ended. Ctrl-C ends only the watching. */
export async function followRedrive({ operations, terminal, show }: Desk, id: string): Promise<number> {
  const progress = progressLine(terminal.err)
  for (;;) {
    const status = await operations.letters.redriveStatus(id)
    const { state, selected, succeeded, failed, unreleased } = status
    if (state === 'running') {
      progress.show({ done: succeeded + failed, total: selected, doing: `${failed} failed, ${unreleased} to come` })
      await sleep(everyMs)
      continue
    }
    progress.clear()
    show(
      status,
      () =>
        `The redrive ${id} is ${state}: ${succeeded} of ${selected} succeeded, ${failed} failed, ${unreleased} were not released.\n`,
    )
    return state === 'finished' && failed === 0 ? 0 : 1
  }
}
