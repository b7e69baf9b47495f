import { beginEpoch } from '../../operations/index.ts'
import { operatorCommand } from '../operator-command.ts'

export const newEpochCommand = operatorCommand(
  { name: 'new-epoch', summary: 'empties every cache, after records were lost or restored by hand' },
  {
    name: '',
    summary: 'empties every cache, after records were lost or restored by hand',
    about: `Empties every cache of what this store has processed: in running processes within a second, and in the hot side next to
the store. Nothing else changes, and no message is lost or handled twice. For a while, more duplicates are looked up in
the database.

Use it when records are gone and justonce cannot notice: rows of the inbox were deleted or restored by hand, or a backup
was restored in a way that is not detected (see docs/drivers/hints.md).`,
    changes: true,
    async run({ store, show, signed }) {
      await beginEpoch(store, signed)
      show(
        { store: store.name, newEpoch: true },
        () => `The ${store.name} store has a new epoch: caches no longer trust what they knew before.\n`,
      )
      return 0
    },
  },
)
