/** Where a command writes: the terminal, or a test's substitute. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
}

export interface Output {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}
