import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take half a minute and more, the longest first; those that kill processes beside those that do not. */
const longest = [
  'test/simulator/simulator.test.ts',
  'test/crash/poison-that-kills.test.ts',
  'test/conformance/postgres.test.ts',
  'test/kafka/broker-killed.test.ts',
  'test/crash/crash-matrix.test.ts',
  'test/demo/run.test.ts',
  'test/rabbitmq/broker-killed.test.ts',
  'test/conformance/rabbitmq.test.ts',
  'test/chaos/chaos.test.ts',
  'test/conformance/mysql.test.ts',
  'test/kafka/trouble-apart.test.ts',
  'test/crash/ordered-under-kills.test.ts',
  'test/prove/good-handlers.test.ts',
  'test/cli/operators.test.ts',
  'test/crash/silent-server.test.ts',
]

/** Without it one worker may be left with the longest file when all the others are done: a clean checkout knows no durations. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((file) => moduleId.endsWith(file))
      return index < 0 ? longest.length : index
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}
