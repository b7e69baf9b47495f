import type { Choice } from './decisions.ts'
import { isOfUse } from './load.ts'
import { needsOf, workOf } from './work-code.ts'

/** The handler, or the call of `once()` where there is no broker. */
export function registration(choice: Choice): readonly string[] {
  const { broker, load } = choice
  const { tx, more } = needsOf(choice)
  const work = workOf(choice).lines.map((line) => `  ${line}`)
  if (broker === 'none') {
    const given = more.length === 0 ? 'tx' : `${tx ? 'tx' : '_'}, { ${more.join(', ')} }`
    return [
      "const body = { order: 'A17', at: 1893456000000 } // what your route or job was given",
      `const outcome = await app.once({ handler: 'book', key: body.order, content: body }, async (${given}) => {`,
      ...work,
      '})',
      "console.log(outcome.status) // 'processed', and 'duplicate' after that",
    ]
  }
  const context = `{ ${[...(tx ? ['tx'] : []), ...more].join(', ')} }`
  if (load === 'many' && isOfUse(choice))
    return [
      `app.onBatch('order.paid', 'book', async (orders, ${context}) => {`,
      '  // One statement for all of them is the point; in a loop it is still right.',
      '  for (const { body } of orders) {',
      ...work.map((line) => `  ${line}`),
      '  }',
      '})',
    ]
  return [`app.on('order.paid', ${optionsOf(choice)}, async ({ body }, ${context}) => {`, ...work, '})']
}

function optionsOf(choice: Choice): string {
  const { effect, load } = choice
  const options = [
    ...(effect === 'harmless' ? ["delivery: 'at-least-once'"] : []),
    ...(effect === 'sampled' ? ["delivery: 'at-most-once'"] : []),
    ...(load === 'far' && isOfUse(choice) ? ['interleave: true'] : []),
  ]
  return options.length === 0 ? "'book'" : `{ name: 'book', ${options.join(', ')} }`
}
