import { operatorCommand } from '../operator-command.ts'
import { handlersText } from '../status/index.ts'

export const handlersCommand = operatorCommand(
  {
    name: 'handlers',
    summary: 'lists handlers, and pauses or resumes one in all processes',
    about:
      'Lists handlers, and pauses or resumes one in all processes, within five seconds. A pause survives restarts.',
  },
  {
    name: 'list',
    summary: 'lists where each handler runs, and how it does',
    async run(desk) {
      const handlers = await desk.operations.handlers.list()
      desk.show(handlers, () => handlersText(desk, handlers) || 'No handler is known.\n')
      return 0
    },
  },
  {
    name: 'pause',
    summary: 'gives the handler no more messages, until it is resumed',
    takes: ['handler'],
    changes: true,
    async run({ operations, given, signed, show }) {
      const [handler = ''] = given.args
      const isChanged = await operations.handlers.pause(handler, signed)
      show({ handler, paused: true, changed: isChanged }, () =>
        isChanged ? `${handler} is paused in all processes.\n` : `${handler} was paused before.\n`,
      )
      return isChanged ? 0 : 1
    },
  },
  {
    name: 'resume',
    summary: 'gives it messages again',
    takes: ['handler'],
    changes: true,
    async run({ operations, given, signed, show }) {
      const [handler = ''] = given.args
      const isChanged = await operations.handlers.resume(handler, signed)
      show({ handler, paused: false, changed: isChanged }, () =>
        isChanged ? `${handler} goes on.\n` : `${handler} was not paused by an operator.\n`,
      )
      return isChanged ? 0 : 1
    },
  },
)
