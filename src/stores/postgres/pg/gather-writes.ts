interface Corkable {
  cork?(): void
  uncork?(): void
}

const gathering = new WeakSet<Corkable>()

/**
 * Holds back what a client writes until the code that is running now, and everything that it has resolved, is done. Nothing
 * waits for anything else: the next tick comes before the event loop looks at the network again.
 */
export function gatherWrites(client: object): void {
  const { stream } = (client as { connection?: { stream?: Corkable } }).connection ?? {}
  if (stream?.cork === undefined || stream.uncork === undefined || gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork?.()
  })
}
