import { describe, expect, test } from 'vitest'
import { FlagError, readFlags } from '../../demo/flags.ts'

const defaults = {
  messages: 2000,
  kills: 12,
  seed: 77,
  workers: 3,
  postgres: undefined,
  broker: undefined,
  keep: false,
  exit: false,
  json: false,
  help: false,
}

function complaint(...args: string[]): string {
  try {
    readFlags(args, 77)
  } catch (error) {
    expect(error).toBeInstanceOf(FlagError)
    return (error as Error).message
  }
  throw new Error(`${args.join(' ')} was accepted`)
}

describe('the flags of the demo', () => {
  test('all have defaults; the seed is the one that was drawn', () => {
    expect(readFlags([], 77)).toEqual(defaults)
  })

  test('are read with a space and with an equals sign', () => {
    const args = ['--messages', '150', '--kills=3', '--seed', '0', '--workers=2', '--keep', '--exit', '--json']
    expect(readFlags(args, 77)).toEqual({
      ...defaults,
      messages: 150,
      kills: 3,
      seed: 0,
      workers: 2,
      keep: true,
      exit: true,
      json: true,
    })
    expect(readFlags(['--postgres', 'postgresql://me@localhost/shop'], 77).postgres).toBe(
      'postgresql://me@localhost/shop',
    )
    expect(readFlags(['--broker', 'kafka'], 77).broker).toBe('kafka')
    expect(readFlags(['-h'], 77).help).toBe(true)
  })

  test('a few messages get no more kills than messages', () => {
    expect(readFlags(['--messages', '5'], 77).kills).toBe(5)
    expect(complaint('--messages', '5', '--kills', '6')).toContain('it can be 5 at most')
  })

  test('a misspelt flag is refused with the flag that was meant', () => {
    expect(complaint('--mesages', '10')).toContain('Did you mean --messages?')
    expect(complaint('--kill=3')).toContain('Did you mean --kills?')
  })

  test('a word that is no flag is refused', () => {
    expect(complaint('150')).toContain("'150' is not a flag")
  })

  test.each([
    ['--messages', '-5'],
    ['--messages', '0'],
    ['--messages', 'NaN'],
    ['--messages', '1.5'],
    ['--messages', '1e3'],
    ['--messages', '99999999999'],
    ['--kills', '-1'],
    ['--kills', 'many'],
    ['--seed', '-1'],
    ['--seed', '4294967296'],
    ['--workers', '0'],
    ['--workers', 'Infinity'],
  ])('%s %s is refused with the value and the range', (flag, value) => {
    expect(complaint(flag, value)).toMatch(new RegExp(`${flag} is '${value}', but must be a whole number from \\d`))
  })

  test('a flag without the value it needs, or with one it does not take, is refused', () => {
    expect(complaint('--messages')).toContain('--messages needs a value')
    expect(complaint('--messages=')).toContain('--messages needs a value')
    expect(complaint('--postgres')).toContain('--postgres needs a value')
    expect(complaint('--broker')).toContain('--broker needs a value: rabbitmq or kafka is wanted')
    expect(complaint('--json=yes')).toContain("--json takes no value, but was given 'yes'")
  })

  test('only a URL of Postgres is taken for one', () => {
    expect(complaint('--postgres', 'localhost:5432')).toContain('postgresql://')
    expect(complaint('--postgres', 'mysql://localhost/shop')).toContain("is 'mysql://localhost/shop'")
  })

  test('only the name of a broker is taken for one', () => {
    for (const name of ['nats', 'RabbitMQ', 'toString']) {
      expect(complaint('--broker', name)).toContain(`--broker is '${name}': rabbitmq or kafka is wanted`)
    }
  })
})
