/** Where a command writes: the terminal, or what a test puts in its place. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
}

export interface Output {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}
