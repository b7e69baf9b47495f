import { operatorCommand } from '../operator-command.ts'
import { agoOf, timeOf } from '../output/wording.ts'

export const schedulesCommand = operatorCommand(
  { name: 'schedules', summary: 'lists schedules and their next tick, or forgets how far one is' },
  {
    name: 'list',
    summary: 'lists the schedules that a process has had',
    async run(desk) {
      const schedules = await desk.operations.schedules.list()
      desk.show(schedules, () =>
        schedules.length === 0
          ? 'There is none.\n'
          : desk.table(schedules, [
              { title: 'name', of: ({ name }) => name, cut: true },
              { title: 'type', of: ({ type }) => type, cut: true },
              { title: 'times', of: ({ times }) => times, cut: true },
              { title: 'last tick', of: ({ lastTick }) => timeOf(lastTick), short: ({ lastTick }) => agoOf(lastTick) },
              { title: 'next tick', of: ({ nextTick }) => timeOf(nextTick), short: ({ nextTick }) => agoOf(nextTick) },
            ]),
      )
      return 0
    },
  },
  {
    name: 'forget',
    summary: 'forgets how far a schedule is: a process that has it begins anew',
    takes: ['name'],
    changes: true,
    asks: true,
    async run({ operations, given, signed, show, confirm }) {
      const [name = ''] = given.args
      await confirm(`The schedule ${name} begins anew. Forget how far it is?`)
      const isForgotten = await operations.schedules.forget(name, signed)
      show({ name, forgotten: isForgotten }, () =>
        isForgotten ? 'It is forgotten.\n' : 'There is no such schedule.\n',
      )
      return isForgotten ? 0 : 1
    },
  },
)
