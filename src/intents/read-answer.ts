export interface ReadLimits {
  readonly mostBytes: number
  readonly withinMs: number
}

export interface AnswerBody {
  /** What was read. */
  readonly text: string
  /** Whether that is all of it. */
  readonly isWhole: boolean
}

/**
 * Reads the beginning of a body: the other side may send one that has no end, that comes a byte at a time, or that unpacks to more than
 * fits into the memory. Never rejects: what the answer means is known without it.
 */
export async function readAnswer(response: Response, { mostBytes, withinMs }: ReadLimits): Promise<AnswerBody> {
  const reader = response.body?.getReader()
  if (reader === undefined) return { text: '', isWhole: true }
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reading = async (): Promise<boolean> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return true
      chunks.push(value)
      bytes += value.length
      if (bytes > mostBytes) return false
    }
  }
  const isWhole = (await withinTime(reading(), withinMs)) ?? false
  // Not awaited: who sends slowly may be slow to end, too.
  if (!isWhole) reader.cancel().catch(() => {})
  return { text: Buffer.concat(chunks).subarray(0, mostBytes).toString(), isWhole }
}

/** `undefined` if it takes longer, or rejects. */
export async function withinTime<T>(work: Promise<T>, withinMs: number): Promise<T | undefined> {
  const { promise: isUp, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), withinMs)
  try {
    return await Promise.race([work, isUp])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
