import type { Reporter, TestModule } from 'vitest/node'
import { type ConformanceResult, conformanceTable } from './conformance-table.ts'

/** Prints, at the end of a run, which driver kept what. */
export default class TableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const results = modules.flatMap((module) => [...module.children.allTests()].flatMap((test) => resultOf(test)))
    if (results.length > 0) console.log(`\n${conformanceTable(results)}\n`)
  }
}

function resultOf(test: { readonly name: string; meta(): object }): ConformanceResult[] {
  const { conformance } = test.meta() as { conformance?: { driver: string; outcome: string } }
  return conformance === undefined ? [] : [{ case: test.name, ...conformance }]
}
