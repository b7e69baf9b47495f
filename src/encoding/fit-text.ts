import { hash } from 'node:crypto'

/** Characters that every store keeps, in a column of this width. */
const fits = 255
const shownOfIt = 30

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f]/
const looksFitted = /~sha256-[0-9a-f]{64}$/

/**
 * Text that every store can keep and compare. What does not fit becomes its beginning and a hash of all of it, so that
 * two texts stay two; so does what looks as if it had been made here.
 */
export function fittedText(text: string): string {
  if (text.length <= fits && !controlCharacters.test(text) && text.isWellFormed() && !looksFitted.test(text))
    return text
  // By its UTF-16: in UTF-8 all lone surrogates are the same.
  return `${plainText(text.slice(0, shownOfIt))}~sha256-${hash('sha256', Buffer.from(text, 'utf16le'), 'hex')}`
}

/** The same in ASCII, for databases that cannot hold all of Unicode; for people, and not to be compared. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
