/** The part of Standard Schema v1 that is used here, as a structural type. zod, valibot, arktype and others implement it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export function describeIssues(issues: readonly StandardIssue[]): string {
  return issues
    .map((issue) => {
      const path = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
      return path ? `${path}: ${issue.message}` : issue.message
    })
    .join('; ')
}
