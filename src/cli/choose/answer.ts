/** One answer to a question, and what follows from it. */
export interface Answer {
  readonly label: string
  /** The scheme, why, and the page that explains it; absent if the answer only changes the code. */
  readonly scheme?: string
  readonly why?: string
  readonly page?: string
  /** The folder of the example that shows it. */
  readonly example?: string
  /** What else to know. */
  readonly beware?: string
}
