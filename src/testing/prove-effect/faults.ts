import type { EffectContext, EffectOptions } from '../../intents/effect.ts'

/** What goes wrong with the first attempt of a call. */
export type EffectFault =
  | 'none'
  | 'killed-before-the-call'
  | 'killed-after-the-call'
  | 'call-lost'
  | 'answer-lost'
  | 'answer-late'
  | 'frozen-before-the-call'

export const effectFaults: readonly EffectFault[] = [
  'none',
  'killed-before-the-call',
  'killed-after-the-call',
  'call-lost',
  'answer-lost',
  'answer-late',
  'frozen-before-the-call',
]

/** The moments that the attempt waits for. */
export interface Moments {
  /** Never comes: the process is dead. */
  readonly never: Promise<never>
  /** The time of the call is up. */
  readonly timeIsUp: Promise<void>
  /** Other processes have done what they can about it. */
  readonly thawed: Promise<void>
}

type Run = EffectOptions['run']

/** The effect as its first process makes it. Only the first attempt is disturbed. */
export function disturbed(run: Run, fault: EffectFault, { never, timeIsUp, thawed }: Moments): Run {
  let isFirst = true
  return async (intent, context: EffectContext) => {
    const call = () => run(intent, context)
    if (!isFirst) return await call()
    isFirst = false
    switch (fault) {
      case 'none':
        return await call()
      case 'killed-before-the-call':
        return await never
      case 'killed-after-the-call':
        await call()
        return await never
      case 'call-lost':
        throw new Error('prove: the connection was lost before the call arrived')
      case 'answer-lost':
        await call()
        throw new Error('prove: the connection was lost before the answer arrived')
      case 'answer-late': {
        const result = await call()
        await timeIsUp
        return result
      }
      case 'frozen-before-the-call':
        await thawed
        return await call()
    }
  }
}
