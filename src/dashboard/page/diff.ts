export interface DiffLine {
  readonly is: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Beyond this many lines, only what they have in common at their ends is recognised. */
const mostCompared = 1_500

/** The lines that have to be removed and added to get from one text to the other, as few as possible. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const same = (text: string): DiffLine => ({ is: 'same', text })
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ]
}

function middle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ is: 'removed', text })
  const added = (text: string): DiffLine => ({ is: 'added', text })
  if (a.length === 0 || b.length === 0 || a.length + b.length > mostCompared)
    return [...a.map(removed), ...b.map(added)]
  // longest[i][j]: how many lines the rest of a from i and the rest of b from j have in common.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  const at = (i: number, j: number): number => longest[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      (longest[i] as Uint32Array)[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ is: 'same', text: a[i] as string })
      i++
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(removed(a[i++] as string))
    else lines.push(added(b[j++] as string))
  }
  return lines
}
