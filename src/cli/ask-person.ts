import { createInterface } from 'node:readline/promises'
import { UsageError } from './command.ts'

/** Asks on a terminal. Rejects if whoever is there leaves without an answer: Ctrl-C, Ctrl-D, or the end of the terminal. */
export async function askPerson(
  question: string,
  { input, output }: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream },
): Promise<string> {
  const lines = createInterface({ input, output })
  const left = new AbortController()
  lines.once('close', () => left.abort())
  try {
    return await lines.question(question, { signal: left.signal })
  } catch {
    output.write('\n')
    throw new UsageError('there was no answer, and nothing was done.')
  } finally {
    lines.close()
  }
}
