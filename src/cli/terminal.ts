/** Where a command writes: the terminal, or a test's substitute. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  /** Asks a person; absent if nobody is there to answer. */
  ask?(question: string): Promise<string>
}

export interface Output {
  readonly isTTY?: boolean | undefined
  /** How wide the terminal is. */
  readonly columns?: number | undefined
  write(text: string): unknown
}
