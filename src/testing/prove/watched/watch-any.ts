import type { Execution } from '../execution.ts'
import { transientError } from '../transient-error.ts'

type Method = (...values: unknown[]) => unknown

/** A transaction of a kind that is not known here: every call of a method counts as a query. */
export function watchAny(tx: object, execution: Execution): unknown {
  return new Proxy(tx, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || typeof name !== 'string' || name === 'constructor') return member
      return (...values: unknown[]) => {
        const call = { text: name, values, run: () => Reflect.apply(member as Method, target, values) }
        if (!answersLater(member)) return execution.callAtOnce(call)
        return execution.call(call, () => {
          throw transientError()
        })
      }
    },
  })
}

/** Only of functions declared `async` can it be known before they are called. */
function answersLater(method: object): boolean {
  return method.constructor.name === 'AsyncFunction'
}
