import { type ByteProxy, byteProxy } from './byte-proxy.ts'

export interface RewritingProxy extends ByteProxy {
  /** From now on the server gets `to` wherever the client has sent `from`; both must be of one length. */
  rewrite(from: string, to: string): void
  /** Everything goes through as it is again. */
  pass(): void
}

/** Makes a living server refuse a statement that is right. What it looks for must come in one piece, as our flights do. */
export async function rewritingProxy(original: string): Promise<RewritingProxy> {
  let rule: { readonly from: string; readonly to: string } | undefined
  const proxy = await byteProxy(original, () => ({
    sent: (bytes) =>
      rule === undefined ? bytes : Buffer.from(bytes.toString('latin1').replaceAll(rule.from, rule.to), 'latin1'),
  }))
  return {
    ...proxy,
    rewrite(from, to) {
      if (from.length !== to.length) throw new Error('The lengths in the messages would be wrong.')
      rule = { from, to }
    },
    pass() {
      rule = undefined
    },
  }
}
