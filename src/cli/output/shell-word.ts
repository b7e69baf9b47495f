/** Text as one word of a shell: whoever copies a command must not run what a message brings. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
