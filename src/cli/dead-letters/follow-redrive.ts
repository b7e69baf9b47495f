import { setTimeout as sleep } from 'node:timers/promises'
import type { Desk } from '../operator-command.ts'
import { progressLine } from '../progress-line.ts'

const everyMs = 500

/** Says so if nobody is there to carry a redrive out. */
export async function warnIfNobodyDrives({
  operations,
  terminal,
}: Pick<Desk, 'operations' | 'terminal'>): Promise<void> {
  const processes = await operations.processes()
  if (processes.some(({ duties }) => duties.includes('retries'))) return
  terminal.err.write(
    'No process that could carry it out reports that it is alive. It is carried out when an app with the duty retries runs.\n',
  )
}

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
