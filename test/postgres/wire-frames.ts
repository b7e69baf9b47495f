/** Calls back with the type of each message that one side of a Postgres connection sends. */
export function wireFrames(onFrame: (type: string) => void, { hasStartup }: { readonly hasStartup: boolean }) {
  let rest: Buffer = Buffer.alloc(0)
  // The first message of a client has a length, but no type.
  let isTyped = !hasStartup
  return (bytes: Buffer): void => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    for (;;) {
      const head = isTyped ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      if (isTyped) onFrame(rest.toString('latin1', 0, 1))
      isTyped = true
      rest = rest.subarray(end)
    }
  }
}
