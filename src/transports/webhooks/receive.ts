import type { IncomingMessage } from '../../contracts/index.ts'
import { admit } from './admit.ts'
import { doneAnswer, type Refusal, refusedAnswer } from './answers.ts'
import type { Receiving } from './webhook-options.ts'

export interface Receiver {
  /** Called before a body is read: whether to refuse now. */
  refuseNow(): Refusal | undefined
  /** Resolves when the message is safe, or to the reason why it is not. Must not take longer than the signal allows. */
  accept(message: IncomingMessage, signal: AbortSignal): Promise<Refusal | undefined>
}

/** Answers requests: 200 only for a message that was accepted, and always within the time that the sender waits. */
export function receive(options: Receiving, receiver: Receiver): (request: Request) => Promise<Response> {
  const { clock, answerWithinMs, retryAfterMs, onRefused } = options

  const outcome = async (request: Request, signal: AbortSignal): Promise<Refusal | undefined> => {
    const refusal = receiver.refuseNow()
    if (refusal !== undefined) return refusal
    const admission = await admit(request, options, signal)
    return 'refusal' in admission ? admission.refusal : await receiver.accept(admission.message, signal)
  }

  return async (request) => {
    const late = new AbortController()
    const deadline = clock.timer(answerWithinMs, () => late.abort())
    try {
      const refusal = await outcome(request, late.signal)
      if (refusal === undefined) return doneAnswer()
      onRefused(refusal)
      return refusedAnswer(refusal, retryAfterMs)
    } finally {
      deadline.cancel()
    }
  }
}
