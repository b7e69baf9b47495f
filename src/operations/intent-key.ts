import { JustonceError } from '../errors/index.ts'
import type { IntentKey } from './intent-types.ts'
import { checkText } from './letter-filter.ts'

export function checkIntentKey(given: IntentKey): IntentKey {
  if (typeof given !== 'object' || given === null)
    throw new JustonceError('OPTION_INVALID', { message: `${String(given)} is not { effect, key }.` })
  const { effect, key } = given
  checkText(effect, 'effect')
  checkText(key, 'key')
  return { effect, key }
}
