/** What an operator asks for and cannot have. */
export const operatorCatalog = {
  LETTERS_NONE_FOUND: {
    title: 'No dead letter matches the selection',
    fix: 'List the dead letters to see what is there: it may have been redriven or discarded meanwhile.',
  },
  LETTER_NOT_DEAD: {
    title: 'A parked message is no longer a dead letter: it waits for an attempt, or has one now',
    fix: 'Wait for its attempts to end; nothing was changed.',
  },
  REDRIVE_RUNNING: {
    title: 'A dead letter belongs to a redrive that is running',
    fix: 'Wait until that redrive has ended, or stop it with stopRedrive(); nothing was changed.',
  },
  REDRIVE_EXPIRED: {
    title: 'A dead letter cannot be redriven because its expiry has passed',
    fix: 'If it is still wanted, publish it again as a new message; if not, discard it.',
  },
  REDRIVE_UNKNOWN: {
    title: 'There is no redrive with this id',
    fix: 'Call redrives() to see the existing ones.',
  },
  EDIT_INVALID: {
    title: 'A dead letter cannot be redriven with the given body',
    fix: 'Select one letter by handler and key, and pass a body that its handler accepts; nothing was changed.',
  },
  RECORD_PARKED: {
    title: 'A record cannot be forgotten while a parked message owns it',
    fix: 'Redrive or discard the parked message instead.',
  },
  RECORD_UNREADABLE: {
    title: 'What a key of the store holds is not what the store keeps there, so it does not work with it',
    fix: 'Check what wrote to the key that the error names, and remove or restore it. Without its record a message runs again; without a list, what was in it is not found.',
  },
} as const
