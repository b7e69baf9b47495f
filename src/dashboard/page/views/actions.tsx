import { post } from '../api.ts'
import { count, counted } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Selection } from '../wire.ts'

interface ActionProps {
  readonly selection: Selection
  close(): void
  done(): void
}

/** How many a selection names; those of a filter are counted by whoever knows the filter. */
export function sizeOf(selection: Selection): number | undefined {
  return Array.isArray(selection) ? selection.length : undefined
}

/** One message is named alone, so that an error says exactly what has become of it. */
export function sent(selection: Selection): unknown {
  return Array.isArray(selection) && selection.length === 1 ? selection[0] : selection
}

export function DiscardDialog({ selection, of, close, done }: ActionProps & { readonly of: 'letters' | 'waiting' }) {
  const size = sizeOf(selection)
  const what = of === 'letters' ? 'dead letter' : 'waiting message'
  return (
    <Dialog
      title={size === undefined ? `Discard all that match?` : `Discard ${counted(size, what)}?`}
      action="Discard for good"
      isDangerous
      close={close}
      run={async (signed) => {
        await post(`${of}/discard`, { selection: sent(selection), ...signed })
        done()
      }}
    >
      <p>They are gone for good. Late copies of them are duplicates, and what waits behind them goes on.</p>
    </Dialog>
  )
}

export function RunNowDialog({ selection, close, done }: ActionProps) {
  const size = sizeOf(selection)
  return (
    <Dialog
      title={size === undefined ? 'Run all that match now?' : `Run ${counted(size, 'waiting message')} now?`}
      action="Run now"
      close={close}
      run={async (signed) => {
        await post('waiting/run-now', { selection: sent(selection), ...signed })
        done()
      }}
    >
      <p>
        They become due at once. Their attempts stay counted, and those that wait for another message keep waiting for
        it.
      </p>
    </Dialog>
  )
}

export function ForgetDialog(props: {
  readonly handler: string
  readonly letterKey: string
  close(): void
  done(): void
}) {
  const { handler, letterKey: key, close, done } = props
  return (
    <Dialog
      title="Forget that it was processed?"
      action="Forget"
      isDangerous
      close={close}
      run={async (signed) => {
        await post('records/forget', { handler, key, ...signed })
        done()
      }}
    >
      <p>
        The record of <code>{key}</code> for <code>{handler}</code> is removed. Its next copy runs again, and takes
        effect again.
      </p>
    </Dialog>
  )
}

/** Acts on the chosen rows, or on everything that matches the filter. */
export function ChoiceBar(props: {
  readonly chosen: number
  readonly isFiltered: boolean
  readonly actions: readonly (readonly [label: string, open: (isAll: boolean) => void])[]
  clear(): void
}) {
  const { chosen, isFiltered, actions, clear } = props
  return (
    <div class="choice-bar" role="toolbar" aria-label="Actions">
      {chosen > 0 ? (
        <>
          <strong>{count(chosen)} chosen</strong>
          {actions.map(([label, open]) => (
            <button type="button" key={label} onClick={() => open(false)}>
              {label} …
            </button>
          ))}
          <button type="button" class="quiet" onClick={clear}>
            Choose none
          </button>
        </>
      ) : (
        <>
          <span class="muted">{isFiltered ? 'All that match:' : 'All of them:'}</span>
          {actions.map(([label, open]) => (
            <button type="button" key={label} onClick={() => open(true)}>
              {label} …
            </button>
          ))}
        </>
      )}
    </div>
  )
}
