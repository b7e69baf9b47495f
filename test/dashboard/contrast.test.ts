import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const css = readFileSync(new URL('../../src/dashboard/page/style.css', import.meta.url), 'utf8')

/** The colours of one theme, by their names. */
function coloursIn(block: string): ReadonlyMap<string, string> {
  return new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name = '', value = '']) => [name, value]))
}

const blocks = [...css.matchAll(/:root[^{]*\{[^}]*\}/g)].map(([block]) => coloursIn(block))

/** As WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [a, b].map(luminance).toSorted((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const texts: readonly (readonly [text: string, ground: string])[] = [
  ...['text', 'muted', 'accent', 'ok', 'warn', 'bad'].flatMap((text) => [
    [text, 'panel'] as const,
    [text, 'ground'] as const,
  ]),
  ['text', 'raised'],
  ['muted', 'raised'],
  ['panel', 'accent'],
  ['ok', 'ok-soft'],
  ['warn', 'warn-soft'],
  ['bad', 'bad-soft'],
  ['accent', 'info-soft'],
  ['text', 'info-soft'],
]

describe.each([
  ['light', blocks[0]],
  ['dark', blocks[1]],
])('%s', (_, colours = new Map()) => {
  test.each(texts)('%s on %s can be read (WCAG AA)', (text, ground) => {
    expect(contrast(colours.get(text) ?? '#000000', colours.get(ground) ?? '#000000')).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['blue', 'violet', 'red', 'amber'])('a %s line can be seen', (line) => {
    expect(contrast(colours.get(line) ?? '#000000', colours.get('panel') ?? '#000000')).toBeGreaterThanOrEqual(3)
  })
})
