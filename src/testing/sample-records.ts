import type {
  ClaimRequest,
  Inbox,
  InboxKey,
  InboxRecord,
  MessageToQueue,
  NewParkedMessage,
  PackedMessage,
  RecordChange,
  RecordKey,
  Store,
} from '../contracts/index.ts'

export const handler = 'tag-note'

export function request(key: string, fingerprint?: Uint8Array): ClaimRequest {
  return { handler, key, fingerprint }
}

/** Claims one key in the given transaction. `undefined` if the claim is ours. */
export async function claim<Tx>(store: Store<Tx>, tx: Tx, key: string): Promise<InboxRecord | undefined> {
  const { existing } = await store.inbox.claim(tx, [request(key)])
  return existing[0]
}

/** The committed record of one key. */
export async function recordOf(
  { inbox }: { readonly inbox: Pick<Inbox<never>, 'find'> },
  key: RecordKey,
): Promise<InboxRecord | undefined> {
  return (await inbox.find([key]))[0]
}

/** Claims one key and, if it is ours, writes one effect of the same name, like a handler. */
export async function claimAndWrite<Tx>(
  context: { readonly effects: { write(tx: Tx, name: string): Promise<void> } },
  store: Store<Tx>,
  key: string,
): Promise<InboxRecord | undefined> {
  return store.transaction(async (tx) => {
    const existing = await claim(store, tx, key)
    if (existing === undefined) await context.effects.write(tx, key)
    return existing
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function packed(text: string): PackedMessage {
  return { envelope: encoder.encode(`{"id":${JSON.stringify(text)}}`), body: encoder.encode(text) }
}

export function textOf(message: PackedMessage): string {
  return decoder.decode(message.body)
}

/** Every possible byte, in an order that is not valid text. */
export const everyByte = Uint8Array.from({ length: 256 }, (_, index) => 255 - index)

/** Messages that broke stores which kept them as text. */
export const awkwardMessages: readonly PackedMessage[] = [
  { envelope: everyByte, body: everyByte.toReversed() },
  { envelope: new Uint8Array(), body: new Uint8Array() },
  { envelope: encoder.encode('{"id":"a\\u0000b"}'), body: encoder.encode('"\\u0000"') },
  { envelope: encoder.encode('{"id":"\\ud800"}'), body: encoder.encode('"\\udfff"') },
  { envelope: Uint8Array.of(0), body: Uint8Array.of(0, 0, 0) },
  { envelope: Uint8Array.of(0xff, 0xfe), body: new Uint8Array(300_000).fill(0xa5) },
]

/** Plain arrays, because drivers may return a Buffer or a Uint8Array, and only the bytes count. */
export function bytesOf(message: PackedMessage): { envelope: number[]; body: number[] } {
  return { envelope: [...message.envelope], body: [...message.body] }
}

export function parkedMessage(key: string, changes: Partial<NewParkedMessage> = {}): NewParkedMessage {
  return {
    handler,
    key,
    messageId: key,
    type: 'note.created',
    source: 'notes',
    message: packed(key),
    state: 'waiting',
    attempts: 1,
    reason: 'HANDLER_FAILED',
    errors: '[{"at":"2030-01-01T00:00:00.000Z","message":"no"}]',
    shape: 'no',
    step: 0,
    independent: false,
    orderKey: undefined,
    delayMs: 0,
    ...changes,
  }
}

export function toQueue(text: string, key?: string): MessageToQueue {
  return { message: packed(text), key }
}

export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is missing`)
  return value
}

/** Record changes that give up claims. */
export function unclaimed(...keys: readonly InboxKey[]): RecordChange[] {
  return keys.map(({ handler, key, born }) => ({ handler, key, born, state: 'unclaimed' }))
}
