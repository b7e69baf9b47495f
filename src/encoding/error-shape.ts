import { cleanText } from './clean-text.ts'

const shapeLength = 200

/**
 * One line that failures of the same kind share: the error message without what varies (numbers, ids, quoted values,
 * dates). Never throws, whatever was thrown.
 */
export function shapeOf(error: unknown): string {
  const line = firstLine(error)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '#')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '#')
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '"…"')
    .replace(/\b[0-9a-f]{12,}\b/gi, '#')
    .replace(/\d+/g, '#')
  return cleanText(line, shapeLength)
}

function firstLine(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return (text.split('\n', 1)[0] as string).slice(0, 2_000)
  } catch {
    return 'something that cannot be described'
  }
}
