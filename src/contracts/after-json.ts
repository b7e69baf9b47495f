/**
 * The type of a value after a JSON round trip: a Date is text, functions and `undefined` are gone, a Map or a Set is empty.
 * A number that JSON cannot represent (NaN, Infinity) is `null` at run time; no type can express that.
 */
export type AfterJson<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? unknown
    : Value extends string | number | boolean | null
      ? Value
      : Value extends Unspeakable
        ? undefined
        : Value extends bigint
          ? never
          : Value extends { toJSON(...given: never[]): infer Json }
            ? AfterJson<Json>
            : Value extends readonly unknown[]
              ? { [Index in keyof Value]: InList<Value[Index]> }
              : Value extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
                ? Record<string, never>
                : Value extends ArrayBufferView
                  ? Record<string, number>
                  : AfterJsonObject<Value>

/** What JSON leaves out. */
type Unspeakable = undefined | symbol | ((...given: never[]) => unknown)

type Spoken<Value> = Value extends Unspeakable ? never : Value

/** A list keeps its length: an entry that JSON leaves out becomes null. */
type InList<Value> = AfterJson<Spoken<Value>> | (Value extends Unspeakable ? null : never)

type AfterJsonObject<Value> = Simplified<
  {
    [Name in keyof Value as Fate<Value, Name> extends 'always' ? Name : never]: AfterJson<Value[Name]>
  } & {
    [Name in keyof Value as Fate<Value, Name> extends 'sometimes' ? Name : never]?: AfterJson<Spoken<Value[Name]>>
  }
>

/** Whether a property is present after JSON. */
type Fate<Value, Name extends keyof Value> = Name extends symbol
  ? 'never'
  : unknown extends Value[Name]
    ? 'sometimes'
    : [Spoken<Value[Name]>] extends [never]
      ? 'never'
      : [Value[Name]] extends [Spoken<Value[Name]>]
        ? 'always'
        : 'sometimes'

type Simplified<Value> = { [Name in keyof Value]: Value[Name] }
