/** Text that any database accepts: without NUL and lone surrogates, and no longer than `max` characters. */
export function cleanText(text: string, max: number): string {
  const clean = text.replaceAll('\0', '␀').toWellFormed()
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`
}
