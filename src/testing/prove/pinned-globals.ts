import { syncBuiltinESMExports } from 'node:module'
import { currentInside, type Inside } from './inside-handler.ts'
import { sharedPatch } from './shared-patch.ts'

type Patch = { readonly target: object; readonly name: string; readonly was: PropertyDescriptor | undefined }

/** Shared, because several proofs may run at once. */
export const pinGlobals = sharedPatch(pin)

/**
 * While a proof runs, handlers, and only handlers, get the time and random values of the run. Functions of `Date` or `crypto`
 * that a library has stored before that cannot be replaced.
 */
function pin(): () => void {
  const patches: Patch[] = []
  const put = (target: object, name: string, value: unknown): void => {
    patches.push({ target, name, was: Object.getOwnPropertyDescriptor(target, name) })
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true })
  }
  const crypto = process.getBuiltinModule('node:crypto')
  const web = globalThis.crypto
  const { random } = Math
  put(globalThis, 'Date', pinnedDate(Date))
  put(Math, 'random', () => rolled()?.pins.random() ?? random())
  const now = performance.now.bind(performance)
  put(performance, 'now', () => {
    looked()
    return now()
  })
  const nodeUuid = crypto.randomUUID
  put(crypto, 'randomUUID', (options?: object) => pinnedUuid() ?? nodeUuid(options))
  const webUuid = web.randomUUID.bind(web)
  put(web, 'randomUUID', () => pinnedUuid() ?? webUuid())
  const values = web.getRandomValues.bind(web)
  put(web, 'getRandomValues', (array: Uint8Array<ArrayBuffer>) => filled(array) ?? values(array))
  const fill = crypto.randomFillSync
  put(crypto, 'randomFillSync', (array: Uint8Array<ArrayBuffer>, ...rest: []) => filled(array) ?? fill(array, ...rest))
  const bytes = crypto.randomBytes
  put(crypto, 'randomBytes', (size: number, callback?: (error: Error | null, bytes: Buffer) => void) => {
    const buffer = currentInside() === undefined ? undefined : filled(Buffer.alloc(size))
    if (buffer === undefined) return callback === undefined ? bytes(size) : bytes(size, callback)
    return callback === undefined ? buffer : void process.nextTick(callback, null, buffer)
  })
  // Makes `import { randomUUID } from 'node:crypto'` follow.
  syncBuiltinESMExports()
  return () => {
    for (const { target, name, was } of patches.reverse()) {
      if (was === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, was)
    }
    syncBuiltinESMExports()
  }
}

function looked(): Inside | undefined {
  const inside = currentInside()
  if (inside !== undefined) inside.reads.clock++
  return inside
}

function rolled(): Inside | undefined {
  const inside = currentInside()
  if (inside !== undefined) inside.reads.random++
  return inside
}

function pinnedDate(native: DateConstructor): DateConstructor {
  return new Proxy(native, {
    construct: (target, values, newTarget) => {
      const pinned = values.length === 0 ? looked()?.pins.nowMs() : undefined
      return Reflect.construct(target, pinned === undefined ? values : [pinned], newTarget) as object
    },
    apply: (target) => new target(looked()?.pins.nowMs() ?? target.now()).toString(),
    get: (target, name) => {
      if (name === 'now') return () => looked()?.pins.nowMs() ?? target.now()
      return Reflect.get(target, name, target) as unknown
    },
  })
}

function filled<T extends Uint8Array>(array: T): T | undefined {
  const inside = rolled()
  inside?.pins.fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
  return inside === undefined ? undefined : array
}

function pinnedUuid(): string | undefined {
  const bytes = filled(Buffer.alloc(16))
  if (bytes === undefined) return undefined
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
