export interface Note {
  readonly id: number
  readonly title: string
  readonly content: string
}

export const note: Note = { id: 1, title: 'Tea', content: 'Green tea needs no boiling water.' }

/** Deterministic: the same note always has the same tags. */
export function tagsOf({ title, content }: Note): readonly string[] {
  const words: readonly string[] = `${title} ${content}`.toLowerCase().match(/\w+/g) ?? []
  return ['tea', 'water', 'coffee'].filter((tag) => words.includes(tag))
}
