import { describe } from 'vitest'
import { openCaseContext } from '../kafka/open-kafka.ts'
import { requireServer } from '../servers/require.ts'
import { bindTransportCases } from './bind-transport-cases.ts'

const kafka = await requireServer('kafka')

const onePosition =
  'a group has one position in a partition: what is settled behind an unsettled one comes again and is known by its id'
const wholePartitions = 'partitions are given away whole: others get nothing of them before the holder has settled'

describe.skipIf(!kafka.available)('Kafka', () => {
  bindTransportCases('kafka', {
    open: () => openCaseContext(kafka.url, {}),
    skip: [{ case: 'settle: settles in bulk, in any order, and only what it was given', reason: onePosition }],
  })

  bindTransportCases('kafka, key lanes', {
    open: () => openCaseContext(kafka.url, { lanes: 'key' }),
    skip: [
      { case: 'settle: settles in bulk, in any order, and only what it was given', reason: onePosition },
      { case: 'order: while one consumer holds a key, no other gets later messages of it', reason: wholePartitions },
      { case: 'share: what one consumer holds is not given to another', reason: wholePartitions },
      { case: 'end: after an abort, others get the rest at once', reason: wholePartitions },
    ],
  })
})
