import { hash } from 'node:crypto'

/** How many characters every store can keep in such a column. */
const fits = 255
const shownOfIt = 30

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f]/
const looksFitted = /~sha256-[0-9a-f]{64}$/

/**
 * Text that every store can keep and compare. A text that does not fit becomes its beginning and a hash of all of it,
 * so that different texts stay different. So does a text that looks like a result of this function.
 */
export function fittedText(text: string): string {
  if (text.length <= fits && !controlCharacters.test(text) && text.isWellFormed() && !looksFitted.test(text))
    return text
  // Hashes the UTF-16, because in UTF-8 all lone surrogates are the same.
  return `${plainText(text.slice(0, shownOfIt))}~sha256-${hash('sha256', Buffer.from(text, 'utf16le'), 'hex')}`
}

/** The text in ASCII, for databases that cannot hold all of Unicode. For reading, not for comparing. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
