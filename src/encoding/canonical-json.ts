/** JSON with the keys of every object in order, so that two equal contents have one text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    const keys = Object.keys(inner)
    for (let i = 1; i < keys.length; i++) {
      if ((keys[i] as string) < (keys[i - 1] as string)) return sorted(inner as Record<string, unknown>, keys)
    }
    return inner
  }) as string
}

function sorted(object: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const key of keys.sort()) result[key] = object[key]
  return result
}
