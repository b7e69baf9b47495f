import type { Cell } from '../values-as-text.ts'

/**
 * Messages of the Postgres protocol (version 3, text format), written one after the other into one buffer. `pg` writes every
 * message separately, which costs more than their contents.
 */
export class WireMessages {
  #buffer = Buffer.allocUnsafe(1_024)
  #end = 0

  parse(name: string, text: string): void {
    const start = this.#begin('P')
    this.#text(name)
    this.#text(text)
    this.#int16(0)
    this.#finish(start)
  }

  bind(name: string, values: readonly Cell[]): void {
    const start = this.#begin('B')
    this.#text('')
    this.#text(name)
    this.#int16(0)
    this.#int16(values.length)
    for (const value of values) this.#value(value)
    this.#int16(0)
    this.#finish(start)
  }

  describe(): void {
    const start = this.#begin('D')
    this.#text('P')
    this.#finish(start)
  }

  execute(): void {
    const start = this.#begin('E')
    this.#text('')
    this.#int32(0)
    this.#finish(start)
  }

  sync(): void {
    this.#finish(this.#begin('S'))
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#end)
  }

  #begin(kind: string): number {
    this.#room(5)
    this.#buffer[this.#end] = kind.charCodeAt(0)
    this.#end += 5
    return this.#end - 4
  }

  /** Every message carries its length, which includes the length field but not the message kind. */
  #finish(start: number): void {
    this.#buffer.writeInt32BE(this.#end - start, start)
  }

  #text(text: string): void {
    this.#room(text.length * 3 + 1)
    this.#end += this.#buffer.write(text, this.#end)
    this.#buffer[this.#end++] = 0
  }

  #value(value: Cell): void {
    if (value === null) {
      this.#int32(-1)
      return
    }
    this.#room(value.length * 3 + 4)
    const length = this.#buffer.write(value, this.#end + 4)
    this.#buffer.writeInt32BE(length, this.#end)
    this.#end += length + 4
  }

  #int16(value: number): void {
    this.#room(2)
    this.#end = this.#buffer.writeInt16BE(value, this.#end)
  }

  #int32(value: number): void {
    this.#room(4)
    this.#end = this.#buffer.writeInt32BE(value, this.#end)
  }

  #room(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe((this.#end + bytes) * 2)
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}
