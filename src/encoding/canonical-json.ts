/** JSON with the keys of every object sorted, so that equal contents have the same text. */
export function canonicalJson(value: unknown): string {
  return (isInOrder(value) ? JSON.stringify(value) : JSON.stringify(value, inOrder)) as string
}

/** Only objects whose keys are not sorted are copied. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return keysInOrder(Object.keys(value)) ? value : sorted(value as Record<string, unknown>)
}

/** Whether plain JSON will do. An object with `toJSON` does not show what its JSON will be. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if ('toJSON' in value) return false
  if (Array.isArray(value)) return value.every(isInOrder)
  const keys = Object.keys(value)
  if (!keysInOrder(keys)) return false
  for (const key of keys) if (!isInOrder((value as Record<string, unknown>)[key])) return false
  return true
}

function keysInOrder(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return false
  return true
}

function sorted(object: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(object).sort()) result[key] = object[key]
  return result
}
