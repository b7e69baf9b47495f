import { JustonceError } from '../../errors/index.ts'

export type Dialect = 'postgres' | 'mysql' | 'sqlite'

/** A table or a column. It is quoted, whatever it contains. */
export class Name {
  readonly parts: readonly string[]

  constructor(parts: readonly string[]) {
    for (const part of parts) {
      // Clients replace a question mark by a value, even inside quotes.
      if (typeof part === 'string' && part.length > 0 && !/[\0?]/.test(part)) continue
      throw new JustonceError('OPTION_INVALID', {
        message: `${JSON.stringify(part)} cannot be the name of a table or a column.`,
      })
    }
    this.parts = parts
  }

  in(dialect: Dialect): string {
    const quote = dialect === 'mysql' ? '`' : '"'
    return this.parts.map((part) => `${quote}${part.replaceAll(quote, quote + quote)}${quote}`).join('.')
  }
}

/** A number to compute with. Of a text MySQL would make a floating-point number, and SQLite calls any text greater than any number. */
export class Exact {
  readonly value: number | bigint | string

  constructor(value: number | bigint | string) {
    this.value = value
  }
}

/** A piece that databases need in different words. */
export class PerDialect {
  readonly in: (dialect: Dialect) => Fragment

  constructor(inDialect: (dialect: Dialect) => Fragment) {
    this.in = inDialect
  }
}

/** A piece of a statement. Values never become part of the text, and names are always quoted. */
export class Fragment {
  readonly #texts: readonly string[]
  readonly #given: readonly unknown[]

  constructor(texts: readonly string[], given: readonly unknown[]) {
    this.#texts = texts
    this.#given = given
  }

  render(dialect: Dialect): { readonly text: string; readonly values: readonly unknown[] } {
    const values: unknown[] = []
    return { text: this.#write(dialect, values), values }
  }

  #write(dialect: Dialect, values: unknown[]): string {
    const pieces = this.#given.map((given) => {
      if (given instanceof Fragment) return given.#write(dialect, values)
      if (given instanceof PerDialect) return given.in(dialect).#write(dialect, values)
      if (given instanceof Name) return given.in(dialect)
      values.push(given instanceof Exact ? given.value : given)
      if (dialect === 'postgres') return `$${values.length}`
      const isText = given instanceof Exact && typeof given.value === 'string'
      return isText ? `CAST(? AS ${dialect === 'mysql' ? 'DECIMAL(65, 30)' : 'NUMERIC'})` : '?'
    })
    return this.#texts.map((text, index) => text + (pieces[index] ?? '')).join('')
  }
}

/** Text with values, names and other fragments in it. */
export function sql(texts: TemplateStringsArray, ...given: readonly unknown[]): Fragment {
  return new Fragment(texts, given)
}

export const nothing = new Fragment([''], [])

export function joined(fragments: readonly Fragment[], separator: ', ' | ' AND ' | ' OR ' | ' '): Fragment {
  if (fragments.length === 0) return nothing
  return new Fragment(['', ...fragments.slice(1).map(() => separator), ''], fragments)
}
