import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Refused } from '../api.ts'
import { keepOwnName, ownName, SessionContext } from '../session.ts'
import { Trouble } from './small.tsx'

interface DialogProps {
  readonly title: string
  readonly children?: ComponentChildren
  /** What its button says. */
  readonly action: string
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly isWide?: boolean
  /** Does it, signed by who does it and why. */
  run(signed: { readonly by: string; readonly why: string }, form: FormData): Promise<unknown>
  close(): void
}

/** Asks for what an action needs: at least who does it and why. */
export function Dialog({ title, children, action, isDangerous, isDisabled, isWide, run, close }: DialogProps) {
  const { by } = useContext(SessionContext)
  const dialog = useRef<HTMLDialogElement>(null)
  const [error, setError] = useState<Refused>()
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const name = by ?? String(form.get('by') ?? '').trim()
    if (by === undefined) keepOwnName(name)
    setIsBusy(true)
    try {
      await run({ by: name, why: String(form.get('why') ?? '').trim() }, form)
      close()
    } catch (failure) {
      setError(failure as Refused)
      setIsBusy(false)
    }
  }
  return (
    <dialog ref={dialog} onClose={close} class={isWide ? 'wide' : ''} aria-label={title}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <label>
          <span>Why</span>
          <input type="text" name="why" maxLength={2000} placeholder="for the audit" autocomplete="off" />
        </label>
        {by === undefined && (
          <label>
            <span>Your name</span>
            <input type="text" name="by" required maxLength={200} defaultValue={ownName()} />
          </label>
        )}
        <Trouble error={error} />
        <footer>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy || isDisabled}>
            {isBusy ? 'Working …' : action}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
