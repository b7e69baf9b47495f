/** When every world begins, by the database's clock. */
export const worldBegins = Date.UTC(2030, 0, 1)

/** An id that says when its message was made, in milliseconds from the beginning of the world. */
export function timedId(id: string, born: number): string {
  return `${id}@${born}`
}

/** Undefined: this id does not say. */
export function bornIn(id: string): number | undefined {
  const at = id.indexOf('@')
  return at < 0 ? undefined : Number(id.slice(at + 1))
}

/** How the app reads them. */
export const timedIds = {
  name: 'simulated',
  born(id: string): Date | undefined {
    const born = bornIn(id)
    return born === undefined ? undefined : new Date(worldBegins + born)
  },
}
