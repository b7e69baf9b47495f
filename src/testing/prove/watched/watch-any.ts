import type { Execution } from '../execution.ts'
import { transientError } from '../transient-error.ts'

type Method = (...values: unknown[]) => unknown

/** A transaction of an unknown kind: every method call counts as a query. */
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

/** Before a call, this is known only for functions declared `async`. */
function answersLater(method: object): boolean {
  return method.constructor.name === 'AsyncFunction'
}
