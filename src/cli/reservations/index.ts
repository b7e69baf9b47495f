import type { ReservationView } from '../../operations/index.ts'
import { operatorCommand } from '../operator-command.ts'
import { linesOf } from '../output/said-lines.ts'
import { agoOf, timeOf } from '../output/wording.ts'

export const reservationsCommand = operatorCommand(
  { name: 'reservations', summary: 'lists reservations over several databases, and shows where one stands' },
  {
    name: 'list',
    summary: 'lists them, the latest change first; those that have ended for a week',
    options: { limit: { kind: 'number', text: 'how many at most, up to 1,000. Default: 50' } },
    async run(desk) {
      const reservations = await desk.operations.reservations.list(desk.given.number('limit') ?? 50)
      desk.show(reservations, () =>
        reservations.length === 0
          ? 'There is none.\n'
          : desk.table(reservations, [
              { title: 'name', of: ({ reservation }) => reservation, cut: true },
              { title: 'key', of: keyOf, cut: true },
              { title: 'decision', of: ({ decision }) => decision ?? 'not yet' },
              { title: 'participants', of: participantsOf, cut: true },
              {
                title: 'changed',
                of: ({ changedAt }) => timeOf(changedAt),
                short: ({ changedAt }) => agoOf(changedAt),
              },
            ]),
      )
      return 0
    },
  },
  {
    name: 'show',
    summary: 'shows the decision and the state of each participant',
    takes: ['name', 'key'],
    async run({ operations, given, show }) {
      const [effect = '', key = ''] = given.args
      const reservation = await operations.reservations.get({ effect, key })
      show(reservation ?? null, () =>
        reservation === undefined ? 'There is no such reservation that has begun.\n' : reservationText(reservation),
      )
      return reservation === undefined ? 1 : 0
    },
  },
)

function reservationText(reservation: ReservationView): string {
  const { reservation: name, id, decision, why, triedSince, participants, changedAt } = reservation
  const tried = triedSince === undefined ? '' : `, first tried ${timeOf(triedSince)}`
  const lines = [
    `${name}, key ${keyOf(reservation)}: ${decision === undefined ? 'not decided yet' : `to ${decision}`}${why === undefined ? '' : ` (${why})`}`,
    `changed ${timeOf(changedAt)}${tried}, idempotency key ${id}`,
    ...Object.entries(participants).map(([participant, state]) => `${participant}: ${state}`),
  ]
  return linesOf(lines)
}

function keyOf({ key, id }: ReservationView): string {
  return key ?? id
}

function participantsOf({ participants }: ReservationView): string {
  return Object.entries(participants)
    .map(([name, state]) => `${name} ${state}`)
    .join(', ')
}
