import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import type { QueueTransportOptions } from './queue-transport.ts'

const known = ['store', 'queue', 'visibilityMs', 'pollMs', 'clock', 'onError']

export function checkQueueOptions<Tx>(options: QueueTransportOptions<Tx>): void {
  checkOptions(options, known, 'queueTransport()')
  const { store, queue, visibilityMs, pollMs } = options
  if (store?.queue === undefined) throw invalid(`store is ${store?.name}, which has no queue.`)
  if (queue !== undefined && (typeof queue !== 'string' || !/^[^\p{C}>][^\p{C}]{0,99}$/u.test(queue)))
    throw invalid(
      `queue is ${JSON.stringify(queue)}, but must be 1 to 100 printable characters, the first of them not >.`,
    )
  if (visibilityMs !== undefined) checkNumber(visibilityMs, 'visibilityMs', 1)
  if (pollMs !== undefined) checkNumber(pollMs, 'pollMs', 1)
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
