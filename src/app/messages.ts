import type { StandardSchema } from '../engine/intake/standard-schema.ts'

/** The types of messages and their bodies, as a value, so that everything else can be inferred. */
export interface Messages<Map extends object> {
  readonly schemas: { readonly [Type in keyof Map]?: StandardSchema<Map[Type]> }
}

export type SchemaMap = Readonly<Record<string, StandardSchema>>

export type OutputsOf<Schemas extends SchemaMap> = {
  [Type in keyof Schemas]: Schemas[Type] extends StandardSchema<infer Output> ? Output : never
}

/**
 * Names the messages of an app: by types alone, or by schemas that every body is checked against.
 *
 * ```ts
 * messages<{ 'note.created': NoteCreated }>()
 * messages({ 'note.created': z.object({ id: z.string() }) })   // any Standard Schema
 * ```
 */
export function messages<Map extends object>(): Messages<Map>
export function messages<Schemas extends SchemaMap>(schemas: Schemas): Messages<OutputsOf<Schemas>>
export function messages(schemas: SchemaMap = {}): Messages<object> {
  return { schemas }
}
