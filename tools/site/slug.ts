/** The address of a heading, as the usual sites make it: small letters, hyphens for spaces, and nothing else but letters and digits. */
export function slugOf(heading: string): string {
  const text = heading.trim().toLowerCase()
  return text.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
}
