import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ConsumingConfig } from './consuming-app.ts'

const program = fileURLToPath(new URL('./fixtures/consumer-process.ts', import.meta.url))

export interface ConsumerProcess {
  readonly ended: Promise<unknown>
  /** Ends it without a chance to tidy up. */
  kill(): void
}

/** Resolves when the app in it has started. It does not outlive the test. */
export async function startConsumerProcess(config: ConsumingConfig): Promise<ConsumerProcess> {
  const child = fork(program, [JSON.stringify(config)], { execArgv: [] })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await Promise.race([once(child, 'message'), ended])
  return { ended, kill: () => void child.kill('SIGKILL') }
}
