import { useEffect, useState } from 'preact/hooks'
import { post, type Refused } from '../api.ts'
import { counted } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Trouble } from '../parts/small.tsx'
import { go } from '../route.ts'
import type { Preview, Selection } from '../wire.ts'
import { sent, sizeOf } from './actions.tsx'

/** Shows what a redrive would do before anything is done. */
export function RedriveDialog({ selection, close }: { readonly selection: Selection; close(): void }) {
  const { preview, error } = usePreview(selection)
  const isOne = sizeOf(selection) === 1
  const number = (form: FormData, name: string): Record<string, number> => {
    const text = String(form.get(name) ?? '').trim()
    return text === '' ? {} : { [name]: Number(text) }
  }
  return (
    <Dialog
      title={preview === undefined ? 'Redrive' : `Redrive ${counted(preview.letters, 'dead letter')}`}
      action="Redrive"
      isDisabled={error !== undefined || preview?.letters === 0 || (preview === undefined && isOne)}
      close={close}
      run={async (signed, form) => {
        const settings = {
          ...number(form, 'canary'),
          ...number(form, 'perSecond'),
          ...number(form, 'stopAfterFailures'),
        }
        const { id } = await post<{ id: string }>('letters/redrive', {
          selection: sent(selection),
          ...signed,
          ...settings,
        })
        go('redrive', { id })
      }}
    >
      <Trouble error={error} />
      {preview === undefined && error === undefined && (
        <p class="muted">Counting what would run … Among very many this takes a while; you need not wait for it.</p>
      )}
      {preview && <PreviewList preview={preview} />}
      {!isOne && (
        <div class="fields">
          <label>
            <span>Try first (canary)</span>
            <input type="number" name="canary" min={0} step={1} placeholder="none" />
            <small>The others follow if all of these succeed.</small>
          </label>
          <label>
            <span>Per second at most</span>
            <input type="number" name="perSecond" min={0.001} step="any" placeholder="no limit" />
          </label>
          <label>
            <span>Stop after failures</span>
            <input type="number" name="stopAfterFailures" min={0} step={1} placeholder="10" />
          </label>
        </div>
      )}
    </Dialog>
  )
}

function usePreview(selection: Selection) {
  const [state, setState] = useState<{ preview?: Preview; error?: Refused }>({})
  const question = JSON.stringify(selection)
  useEffect(() => {
    post<Preview>('letters/preview', { selection: sent(JSON.parse(question) as Selection) })
      .then((preview) => setState({ preview }))
      .catch((error: Refused) => setState({ error }))
  }, [question])
  return state
}

function PreviewList({ preview }: { readonly preview: Preview }) {
  const { wouldRun, alreadyDone, tooOld, expired } = preview
  return (
    <ul class="preview">
      {Object.entries(wouldRun).map(([handler, messages]) => (
        <li key={handler}>
          <code>{handler === '-' ? 'handlers that nobody here knows' : handler}</code> would get{' '}
          {counted(messages, 'message')}
        </li>
      ))}
      {Object.entries(alreadyDone ?? {}).map(([handler, messages]) => (
        <li key={handler}>
          <code>{handler}</code> has processed {counted(messages, 'message')} of them and does not run again
        </li>
      ))}
      {tooOld > 0 && (
        <li class="warn">{counted(tooOld, 'message')} too old to know whether they were processed: they would run</li>
      )}
      {expired > 0 && <li class="warn">{counted(expired, 'message')} expired: they would be skipped</li>}
    </ul>
  )
}
