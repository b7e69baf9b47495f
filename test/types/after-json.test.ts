import { expectTypeOf, test } from 'vitest'
import type { AfterJson } from '../../src/index.ts'

test('what JSON keeps keeps its type', () => {
  expectTypeOf<AfterJson<string>>().toEqualTypeOf<string>()
  expectTypeOf<AfterJson<5 | 'a' | null | true>>().toEqualTypeOf<5 | 'a' | null | true>()
  expectTypeOf<AfterJson<{ a: number; b: { c: string[] } }>>().toEqualTypeOf<{ a: number; b: { c: string[] } }>()
  expectTypeOf<AfterJson<readonly [number, string]>>().toEqualTypeOf<readonly [number, string]>()
  expectTypeOf<AfterJson<unknown>>().toEqualTypeOf<unknown>()
  expectTypeOf<AfterJson<never>>().toEqualTypeOf<never>()
})

test('what has a toJSON is what that returns', () => {
  expectTypeOf<AfterJson<Date>>().toEqualTypeOf<string>()
  expectTypeOf<AfterJson<{ at: Date | null }>>().toEqualTypeOf<{ at: string | null }>()
  expectTypeOf<AfterJson<{ toJSON(): { a: Date } }>>().toEqualTypeOf<{ a: string }>()
})

test('what JSON leaves out is gone, or perhaps gone', () => {
  expectTypeOf<AfterJson<undefined>>().toEqualTypeOf<undefined>()
  expectTypeOf<AfterJson<{ a: 1; b: undefined; c: () => void; d: symbol }>>().toEqualTypeOf<{ a: 1 }>()
  expectTypeOf<AfterJson<{ a: string | undefined; b?: Date }>>().toEqualTypeOf<{ a?: string; b?: string }>()
  expectTypeOf<AfterJson<{ a: unknown }>>().toEqualTypeOf<{ a?: unknown }>()
  expectTypeOf<AfterJson<(string | undefined)[]>>().toEqualTypeOf<(string | null)[]>()
})

test('what JSON cannot tell apart is empty, and what it refuses is never there', () => {
  expectTypeOf<AfterJson<Map<string, Date>>>().toEqualTypeOf<Record<string, never>>()
  expectTypeOf<AfterJson<{ seen: Set<string> }>>().toEqualTypeOf<{ seen: Record<string, never> }>()
  expectTypeOf<AfterJson<Uint8Array>>().toEqualTypeOf<Record<string, number>>()
  expectTypeOf<AfterJson<bigint>>().toEqualTypeOf<never>()
})

test('types that contain themselves have an end', () => {
  interface Tree {
    readonly at: Date
    readonly children: readonly Tree[]
  }
  type Json = AfterJson<Tree>
  expectTypeOf<Json['children'][number]['children'][number]['at']>().toEqualTypeOf<string>()
})
