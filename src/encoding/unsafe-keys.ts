/**
 * Whether JSON has a property named `__proto__`, which pollutes the prototype of objects that it is merged into. `parsed`: what the text
 * says, if it is known.
 */
export function hasUnsafeKey(text: string, parsed?: unknown): boolean {
  // The name can only come from a text that contains it, literally or escaped.
  if (!text.includes('__proto__') && !text.includes('\\u')) return false
  return hasProtoKey(parsed ?? JSON.parse(text))
}

function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Object.hasOwn(value, '__proto__')) return true
  return Object.values(value).some(hasProtoKey)
}
