/** Charges a card, remembers keys, and loses its first two answers. */
export class GatewayWithKeys {
  readonly charges: number[] = []
  readonly #keys = new Set<string>()
  #calls = 0

  async charge(amount: number, key?: string): Promise<void> {
    if (key === undefined || !this.#keys.has(key)) this.charges.push(amount)
    if (key !== undefined) this.#keys.add(key)
    if (++this.#calls <= 2) throw new Error('socket hang up')
  }
}

/** Knows no keys, but can be asked for a reference. Loses its first answer. */
export class BankWithReferences {
  readonly transfers: string[] = []
  #calls = 0

  async transfer(_amount: number, reference: string): Promise<void> {
    this.transfers.push(reference)
    if (++this.#calls === 1) throw new Error('socket hang up')
  }

  async has(reference: string): Promise<boolean> {
    return this.transfers.includes(reference)
  }
}
