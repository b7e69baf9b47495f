import { setImmediate } from 'node:timers/promises'
import { note, tagsOf } from './notes.ts'

/** "Have I seen this message?", then the work, then "remember it". Two copies at once both hear no. */
export async function naive(): Promise<string> {
  const seen = new Set<string>()
  const tags: string[] = []
  const consume = async (id: string): Promise<void> => {
    if (seen.has(id)) return
    await setImmediate() // any question to a database
    tags.push(...tagsOf(note))
    seen.add(id)
  }
  await Promise.all([consume('note-1'), consume('note-1')])
  return `${tags.length} tags (${tags.join(', ')})`
}
